#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "store/member_volume.h"
#include "util/result.h"

// What members of an instance tell each other through their clients: plain text, a line for each
// thing, parts separated by single spaces. What is parsed comes from outside.
namespace stele::store::wire {

// Of one request or answer.
inline constexpr std::size_t kLinesMax = 10'000;
// Volume names make the longest lines: 4096 of them, in theory. Servers send fewer lines then.
inline constexpr std::size_t kLinesSizeMax = std::size_t{8} << 20;

// "ADEE2232AF3A4355"
std::string FormatSignatures(std::span<const Signature> signatures);
// "ADEE2232AF3A4355 tomba-1 tomba-2"
std::string FormatOwed(const std::vector<OwedStub>& owed);
// "tomba-1:ADEE2232AF3A4355 tomba-2:ADEE2232AF3A4355.1": the old key and the new one
std::string FormatMoves(const std::vector<Directory::Move>& moves);

// Errors: kInvalid, naming the line, for anything else or too many lines.
Result<std::vector<Signature>> ParseSignatures(std::string_view text);
Result<std::vector<OwedStub>> ParseOwed(std::string_view text);
Result<std::vector<Directory::Move>> ParseMoves(std::string_view text);

}  // namespace stele::store::wire
