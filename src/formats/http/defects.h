#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stele::http {

// What a stored message does that the standard does not allow, or that a reader should know. None
// of them stops the reading.
enum class Defect : std::uint8_t {
  // The head.
  kLeadingEmptyLines,
  kLeadingJunk,       // up to a few bytes before "HTTP"
  kOddVersion,        // not HTTP/1.0 or HTTP/1.1: "HTTP/2", "ICY", none
  kBadStatus,         // not three digits from 100 to 999
  kNoReason,          // nothing, not even a space, after the status
  kBareLineFeed,      // some line ends in LF without CR
  kFoldedLine,        // obs-fold
  kSpaceBeforeColon,  //
  kLineWithoutColon,  //
  kBadFieldName,      // empty, or with a byte that is no token character
  kControlCharacter,  // somewhere in the head
  kEightBit,          // somewhere in the head
  kHeadUnterminated,  // the bytes ended before the empty line
  // The framing of the body.
  kLengthAndChunked,     // both headers; chunked counts
  kLengthRepeated,       // the same Content-Length more than once
  kLengthsDiffer,        // several Content-Lengths; the end of the bytes counts
  kLengthInvalid,        // no number; the end of the bytes counts
  kChunkedNotLast,       // the last transfer coding is another
  kOtherTransferCoding,  // besides chunked; the payload stays so encoded
  // The body's bytes.
  kShortBody,         // fewer than Content-Length
  kNotChunked,        // says chunked and is not: passed as it is
  kBadChunkSize,      // in the middle: from there on passed as it is
  kSpaceInChunkSize,  //
  kChunkLineFeed,     // a bare LF in the chunk framing
  kMissingChunkEnd,   // no line end after a chunk's data
  kNoFinalChunk,      // the bytes ended before the chunk of size 0
  kNoFinalLine,       // the bytes ended before the empty line after the last chunk
  kBadTrailer,        // a line without colon, or more than we keep
  // The content coding.
  kUnknownCoding,    // passed as it is
  kTooManyCodings,   // passed as it is
  kWrongCoding,      // the bytes are not what the header says: passed as they are
  kCorruptContent,   // bad in the middle: what decoded before is given
  kTrailingContent,  // bytes after the end of the compressed stream, left out
  kShortContent,     // the compressed stream ends too early
  kContentTooLarge,  // a limit on the decoded size or ratio was reached: cut there
};
inline constexpr int kDefectCount = static_cast<int>(Defect::kContentTooLarge) + 1;

// "folded-line" and so on: stable, for reports.
std::string_view NameOf(Defect defect);

// A set of them.
class Defects {
 public:
  void Add(Defect defect) { bits_ |= Bit(defect); }
  void Add(Defects others) { bits_ |= others.bits_; }
  bool Has(Defect defect) const { return (bits_ & Bit(defect)) != 0; }
  bool empty() const { return bits_ == 0; }
  // The names, in the order of the enumeration, separated by commas.
  std::string ToText() const;
  bool operator==(const Defects&) const = default;

 private:
  static std::uint64_t Bit(Defect defect) { return std::uint64_t{1} << static_cast<int>(defect); }
  std::uint64_t bits_ = 0;
};

}  // namespace stele::http
