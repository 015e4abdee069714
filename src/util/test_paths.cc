#include "util/test_paths.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace stele {
namespace {

std::string Below(std::string_view folder, std::string_view relative) {
  return std::string(folder) + "/" + std::string(relative);
}

}  // namespace

std::string SourcePath(std::string_view relative) { return Below(STELE_SOURCE_DIR, relative); }

std::string SamplePath(std::string_view relative) {
  const char* chosen = std::getenv("STELE_TEST_DATA");
  return Below(chosen != nullptr ? chosen : STELE_TEST_DATA, relative);
}

std::optional<std::string> ReadSample(std::string_view relative) {
  std::ifstream file(SamplePath(relative), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace stele
