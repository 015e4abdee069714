#include "cli/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace stele::cli {

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string path = (parent / "stele-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kIo, "cannot make a temporary folder " + path + "; set TMPDIR"};
  }
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // the system takes away what is left there
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stele::cli
