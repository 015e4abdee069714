#include "codec/gzip_header.h"

#include <libdeflate.h>

#include <algorithm>

namespace stele::codec {

void GzipHeaderParser::NextField() {
  position_ = 0;
  switch (field_) {
    case Field::kFixed:
      field_ = Field::kExtraLength;
      if (flags_ & kGzipFlagExtra) return;
      [[fallthrough]];
    case Field::kExtraLength:
    case Field::kExtra:
      if (field_ == Field::kExtraLength && (flags_ & kGzipFlagExtra) && value_ > 0) {
        field_ = Field::kExtra;
        return;
      }
      field_ = Field::kName;
      if (flags_ & kGzipFlagName) return;
      [[fallthrough]];
    case Field::kName:
      field_ = Field::kComment;
      if (flags_ & kGzipFlagComment) return;
      [[fallthrough]];
    case Field::kComment:
      field_ = Field::kChecksum;
      value_ = 0;
      if (flags_ & kGzipFlagHeaderCrc) return;
      [[fallthrough]];
    case Field::kChecksum:
    case Field::kEnd:
      field_ = Field::kEnd;
      state_ = State::kDone;
  }
}

// One byte of the fields that are looked at byte by byte.
bool GzipHeaderParser::Accept(std::uint8_t byte) {
  if (field_ == Field::kFixed) {
    if ((position_ == 0 && byte != 0x1f) || (position_ == 1 && byte != 0x8b) ||
        (position_ == 2 && byte != 8) || (position_ == 3 && (byte & kGzipFlagsReserved) != 0)) {
      return false;
    }
    if (position_ == 3) flags_ = byte;
    fixed_[position_++] = byte;
    if (position_ == kGzipFixedHeaderSize) {
      if (flags_ & kGzipFlagHeaderCrc) crc_ = libdeflate_crc32(0, fixed_, sizeof fixed_);
      NextField();
    }
    return true;
  }
  value_ |= static_cast<std::uint32_t>(byte) << (8 * position_);
  if (field_ == Field::kExtraLength && (flags_ & kGzipFlagHeaderCrc)) {
    crc_ = libdeflate_crc32(crc_, &byte, 1);
  }
  if (++position_ < 2) return true;
  if (field_ == Field::kChecksum && value_ != (crc_ & 0xffff)) return false;
  NextField();
  return true;
}

// Bytes of the extra field, name or comment at the front of `in`; ends the field when they do.
std::size_t GzipHeaderParser::SkipWithin(std::string_view in) {
  std::size_t size = 0;
  bool end = false;
  if (field_ == Field::kExtra) {
    size = std::min<std::size_t>(in.size(), value_ - position_);
    position_ += static_cast<std::uint32_t>(size);
    end = position_ == value_;
  } else {
    const std::size_t zero = in.find('\0');
    end = zero != std::string_view::npos;
    size = end ? zero + 1 : in.size();
  }
  if (flags_ & kGzipFlagHeaderCrc) crc_ = libdeflate_crc32(crc_, in.data(), size);
  if (end) NextField();
  return size;
}

GzipHeaderParser::State GzipHeaderParser::Parse(std::string_view in, std::size_t& consumed) {
  while (state_ == State::kMore && !in.empty()) {
    std::size_t size = 1;
    if (field_ == Field::kExtra || field_ == Field::kName || field_ == Field::kComment) {
      size = SkipWithin(in);
    } else if (!Accept(static_cast<std::uint8_t>(in.front()))) {
      state_ = State::kBad;
      return state_;
    }
    in.remove_prefix(size);
    consumed += size;
  }
  return state_;
}

}  // namespace stele::codec
