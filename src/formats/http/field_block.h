#pragma once

#include <cstddef>
#include <string_view>

#include "formats/http/defects.h"
#include "formats/http/message.h"

// The lines of a head, shared by requests and responses.
namespace stele::http {

inline constexpr std::size_t kNotFound = std::string_view::npos;

// One line at the front of `bytes`, without its line end, which is removed from `bytes` as well.
// A last line without line end is a line too. Requires: !bytes.empty().
std::string_view TakeLine(std::string_view& bytes, Defects& defects);

// The position after the empty line that ends the head, or kNotFound. The first line of `bytes` is
// never the empty one. Looks from `scanned` on, which it moves to where the next look may begin.
std::size_t FindHeadEnd(std::string_view bytes, std::size_t& scanned);

// Spaces and tabs only: a value keeps its control characters.
std::string_view TrimBlanks(std::string_view text);

// The field lines of `block`, up to its end or its empty line.
void ParseFields(std::string_view block, Headers& headers, Defects& defects);

// Control and 8-bit characters.
void NoteCharacters(std::string_view head, Defects& defects);

bool IsTokenCharacter(char c);

}  // namespace stele::http
