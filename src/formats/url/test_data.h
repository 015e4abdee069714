#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace stele::url {

// For tests only: the foreign sample files, which may not be there. The environment variable
// STELE_TEST_DATA wins over the folder that was known when the tests were built.
class TestData final {
 public:
  explicit TestData(const char* built_in) {
    const char* chosen = std::getenv("STELE_TEST_DATA");
    root_ = chosen != nullptr ? chosen : built_in;
  }

  std::string Path(const std::string& relative) const { return root_ + "/" + relative; }

  std::optional<std::string> Read(const std::string& relative) const {
    std::ifstream file(Path(relative), std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::string root_;
};

}  // namespace stele::url
