#include "formats/zip/zip_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codec/crc32.h"
#include "util/check.h"
#include "util/coding.h"

namespace stele::zip {
namespace {

void PutFixed16(std::string& out, std::uint64_t value) {
  out += static_cast<char>(value & 0xff);
  out += static_cast<char>(value >> 8 & 0xff);
}

// The number in 32 bits, or what says that it stands elsewhere.
void PutNarrow(std::string& out, std::uint64_t value, bool elsewhere) {
  PutFixed32(out, elsewhere ? kElsewhere32 : static_cast<std::uint32_t>(value));
}

// Time and date as MS-DOS had them, to two seconds.
std::uint32_t DosTime(Timestamp time) {
  const std::string digits = FormatDigits14(time);
  const auto part = [&](std::size_t at, std::size_t size) {
    std::uint32_t number = 0;
    for (const char digit : digits.substr(at, size)) {
      number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return number;
  };
  constexpr std::uint32_t kFirstYear = 1980;
  constexpr std::uint32_t kFirstMoment = 1 << 21 | 1 << 16;
  if (part(0, 4) < kFirstYear) return kFirstMoment;
  const std::uint32_t years = std::min<std::uint32_t>(part(0, 4) - kFirstYear, 127);
  return years << 25 | part(4, 2) << 21 | part(6, 2) << 16 | part(8, 2) << 11 | part(10, 2) << 5 |
         part(12, 2) / 2;
}

// What local header and directory have in common.
struct Head {
  bool is_wide = false;
  std::uint32_t time = 0;
  ZipWriter::Content content;
  std::size_t name_bytes = 0;
  std::size_t extra_bytes = 0;
  bool sizes_elsewhere = false;
};
void PutHead(std::string& out, const Head& head) {
  PutFixed16(out, head.is_wide ? kVersion64 : kVersion);
  PutFixed16(out, kUtf8Flag);
  PutFixed16(out, kStoredMethod);
  PutFixed32(out, head.time);
  PutFixed32(out, head.content.crc32);
  PutNarrow(out, head.content.bytes, head.sizes_elsewhere);
  PutNarrow(out, head.content.bytes, head.sizes_elsewhere);
  PutFixed16(out, head.name_bytes);
  PutFixed16(out, head.extra_bytes);
}

std::string Extra64(std::initializer_list<std::uint64_t> numbers) {
  std::string extra;
  PutFixed16(extra, kExtra64);
  PutFixed16(extra, numbers.size() * 8);
  for (const std::uint64_t number : numbers) PutFixed64(extra, number);
  return extra;
}

}  // namespace

Status ZipWriter::Write(std::string_view bytes) {
  position_ += bytes.size();
  return sink_.Write(bytes);
}

Status ZipWriter::Begin(std::string_view name, const Content& content) {
  Check(missing_ == 0);
  const bool known = std::any_of(entries_.begin(), entries_.end(),
                                 [&](const Written& entry) { return entry.name == name; });
  if (known || name.size() > std::numeric_limits<std::uint16_t>::max()) {
    return Error{ErrorCode::kInvalid, fmt::format("a ZIP file cannot have the member {}", name)};
  }
  entries_.push_back({std::string(name), content, position_});
  missing_ = content.bytes;
  crc32_ = 0;
  const bool is_wide = IsWide(content.bytes);
  const std::string extra = is_wide ? Extra64({content.bytes, content.bytes}) : "";
  std::string out;
  PutFixed32(out, kLocalSignature);
  PutHead(out, {.is_wide = is_wide,
                .time = DosTime(options_.time),
                .content = content,
                .name_bytes = name.size(),
                .extra_bytes = extra.size(),
                .sizes_elsewhere = is_wide});
  out += name;
  out += extra;
  return Write(out);
}

Status ZipWriter::Append(std::string_view bytes) {
  const Error other{ErrorCode::kInvalid, "a member of the ZIP file is not what was announced"};
  if (bytes.size() > missing_) return other;
  missing_ -= bytes.size();
  crc32_ = codec::Crc32(crc32_, bytes);
  if (missing_ == 0 && crc32_ != entries_.back().content.crc32) return other;
  return Write(bytes);
}

Status ZipWriter::Add(std::string_view name, std::string_view bytes) {
  const Status begun = Begin(name, {bytes.size(), codec::Crc32(0, bytes)});
  return begun ? Append(bytes) : begun;
}

void ZipWriter::PutCentral(std::string& out, const Written& entry) const {
  const bool is_wide = IsWide(entry.content.bytes) || IsWide(entry.header);
  // All three, where one of them needs it.
  const std::string extra =
      is_wide ? Extra64({entry.content.bytes, entry.content.bytes, entry.header}) : "";
  PutFixed32(out, kCentralSignature);
  PutFixed16(out, kMadeOnUnix | kVersion64);
  PutHead(out, {.is_wide = is_wide,
                .time = DosTime(options_.time),
                .content = entry.content,
                .name_bytes = entry.name.size(),
                .extra_bytes = extra.size(),
                .sizes_elsewhere = is_wide});
  PutFixed16(out, 0);  // comment
  PutFixed16(out, 0);  // disk
  PutFixed16(out, 0);  // of bytes, not of text
  constexpr std::uint32_t kRegularFile = 0100644;
  PutFixed32(out, kRegularFile << 16);
  PutNarrow(out, entry.header, is_wide);
  out += entry.name;
  out += extra;
}

Status ZipWriter::Finish() {
  Check(missing_ == 0);
  const std::uint64_t begin = position_;
  for (const Written& entry : entries_) {
    std::string out;
    PutCentral(out, entry);
    if (const Status written = Write(out); !written) return written;
  }
  const std::uint64_t end = position_;
  std::string out;
  const bool is_wide = IsWide(end) || entries_.size() >= kElsewhere16;
  if (is_wide) {
    PutFixed32(out, kEnd64Signature);
    PutFixed64(out, kEnd64Bytes - 12);
    PutFixed16(out, kMadeOnUnix | kVersion64);
    PutFixed16(out, kVersion64);
    PutFixed32(out, 0);
    PutFixed32(out, 0);
    for (const std::uint64_t number :
         {std::uint64_t{entries_.size()}, std::uint64_t{entries_.size()}, end - begin, begin}) {
      PutFixed64(out, number);
    }
    PutFixed32(out, kLocator64Signature);
    PutFixed32(out, 0);
    PutFixed64(out, end);
    PutFixed32(out, 1);
  }
  PutFixed32(out, kEndSignature);
  PutFixed32(out, 0);
  PutFixed16(out, is_wide ? kElsewhere16 : entries_.size());
  PutFixed16(out, is_wide ? kElsewhere16 : entries_.size());
  PutNarrow(out, end - begin, is_wide);
  PutNarrow(out, begin, is_wide);
  PutFixed16(out, 0);
  return Write(out);
}

}  // namespace stele::zip
