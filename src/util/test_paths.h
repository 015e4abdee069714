#pragma once

#include <optional>
#include <string>
#include <string_view>

// For tests and benchmarks only: where their files lie. The folders are compiled into one small
// library, so that no test differs between two checkouts and a compiler cache serves both.
namespace stele {

// A file of this project, by its path from the root of the sources.
std::string SourcePath(std::string_view relative);

// A file or folder of the foreign sample data, which may not be there. The environment variable
// STELE_TEST_DATA wins over the folder that was known when the tests were built.
std::string SamplePath(std::string_view relative);

// Its content; nothing where it is not there.
std::optional<std::string> ReadSample(std::string_view relative);

}  // namespace stele
