#pragma once

#include <string>
#include <string_view>

// What the tokenizer writes in place of source bytes. The result is at most three times as long as
// the source (NUL becomes the three bytes of U+FFFD; no reference grows as much).
namespace stele::html {

inline constexpr std::size_t kReplacedGrowthMax = 3;

// A name: lower case, NUL replaced.
void AppendName(std::string_view source, std::string& out);

// Comments and identifiers: line ends become LF, NUL replaced.
void AppendText(std::string_view source, std::string& out);

// An attribute's value: as text, and references decoded.
void AppendValue(std::string_view source, std::string& out);

// `source` itself where AppendText would change nothing, otherwise the changed text, kept in
// `storage` (which is overwritten).
std::string_view TextOf(std::string_view source, std::string& storage);

}  // namespace stele::html
