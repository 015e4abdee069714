#include "catalog/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "catalog/capture_presence.h"
#include "util/coding.h"

namespace stele::catalog {

std::uint32_t BatchOf(Timestamp time) {
  using namespace std::chrono;
  const sys_time<milliseconds> moment{milliseconds(time.milliseconds)};
  const year_month_day date(floor<days>(moment));
  return static_cast<std::uint32_t>(static_cast<int>(date.year())) * 100 +
         static_cast<unsigned>(date.month());
}

Status CheckCapture(const Capture& capture) {
  const std::size_t size = capture.url.size() + capture.key.size() + capture.type.size();
  if (size <= kCaptureRowBytesMax - 200) return {};
  return Error{ErrorCode::kInvalid,
               fmt::format("the URL, key and type of capture {}/{} have {} bytes; {} are possible",
                           capture.id.batch, capture.id.serial, size, kCaptureRowBytesMax - 200)};
}

HeldCapture HoldCapture(const Capture& capture) {
  HeldCapture held{capture, nullptr};
  auto bytes = std::make_shared<std::string>();
  bytes->reserve(capture.url.size() + capture.type.size() + capture.key.size());
  for (std::string_view* text : {&held.row.url, &held.row.type, &held.row.key}) {
    const std::size_t begin = bytes->size();
    *bytes += *text;
    *text = std::string_view(*bytes).substr(begin);
  }
  held.bytes = std::move(bytes);
  return held;
}

void AppendCaptureRow(const Capture& capture, std::string& out) {
  PutVarint(out, capture.id.batch);
  PutVarint(out, capture.id.serial);
  PutSignedVarint(out, capture.time.milliseconds);
  PutVarint(out, StoredFlags(capture));
  PutVarint(out, capture.status);
  PutVarint(out, capture.run);
  PutVarint(out, capture.place.container);
  PutVarint(out, capture.place.offset);
  PutVarint(out, capture.place.length);
  PutVarint(out, capture.length);
  if (capture.text_digest != 0) PutFixed64(out, capture.text_digest);
  if (capture.sha256) out.append(capture.sha256->data(), capture.sha256->size());
  if (capture.sha1) out.append(capture.sha1->data(), capture.sha1->size());
  PutSized(out, capture.type);
  PutSized(out, capture.url);
  if (!capture.key.empty()) PutSized(out, capture.key);
}

Result<Capture> ParseCaptureRow(std::string_view bytes) {
  ByteReader reader(bytes);
  bool narrow = true;  // what has 32 bits has no more
  const auto number = [&] {
    const std::uint64_t value = reader.Varint();
    narrow = narrow && value <= 0xFFFF'FFFF;
    return static_cast<std::uint32_t>(value);
  };
  Capture capture;
  capture.id.batch = number();
  capture.id.serial = number();
  capture.time.milliseconds = reader.SignedVarint();
  const std::uint32_t flags = number();
  capture.flags = flags & kFlagsMask;
  capture.status = number();
  capture.run = number();
  capture.place.container = number();
  capture.place.offset = reader.Varint();
  capture.place.length = reader.Varint();
  capture.length = reader.Varint();
  if (flags & kHasText) capture.text_digest = reader.Fixed64();
  if (flags & kHasSha256) capture.sha256 = BytesOf<Sha256Bytes>(reader);
  if (flags & kHasSha1) capture.sha1 = BytesOf<Sha1Bytes>(reader);
  capture.type = reader.Sized();
  capture.url = reader.Sized();
  if (flags & kHasKey) capture.key = reader.Sized();
  if (!reader.good() || !reader.AtEnd() || !narrow || StoredFlags(capture) != flags) {
    return Error{ErrorCode::kCorrupt, "the row of a capture cannot be understood"};
  }
  return capture;
}

}  // namespace stele::catalog
