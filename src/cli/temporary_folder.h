#pragma once

#include <memory>
#include <string>

#include "util/result.h"

namespace stele::cli {

// A folder for files that no other program sees, in the place that the system has for such things
// (TMPDIR). Goes with all that is in it.
class TemporaryFolder {
 public:
  // Errors: kIo.
  static Result<std::unique_ptr<TemporaryFolder>> Make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace stele::cli
