#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

// For tests only: the foreign sample files, which may not be there.
namespace stele::url {

inline std::string TestDataPath(const std::string& relative) {
  const char* root = std::getenv("STELE_TEST_DATA");
  return std::string(root != nullptr ? root : STELE_TEST_DATA) + "/" + relative;
}

inline std::optional<std::string> ReadTestData(const std::string& relative) {
  std::ifstream file(TestDataPath(relative), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace stele::url
