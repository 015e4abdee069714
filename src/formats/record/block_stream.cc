#include "formats/record/block_stream.h"

#include <fmt/format.h>

#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"

namespace stele::record {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

std::unique_ptr<codec::Decoder> DecoderFor(BlockCoding coding) {
  switch (coding) {
    case BlockCoding::kNone:
      return nullptr;
    case BlockCoding::kDeflate:
      return codec::DeflateCodec().NewDecoder();
    case BlockCoding::kGzip:
      return codec::GzipCodec().NewDecoder();
  }
  return nullptr;
}

}  // namespace

BlockStream::BlockStream(RecordReader& reader, const Record& record)
    : reader_(reader),
      coding_(record.block_coding),
      expected_(record.decoded_length),
      decoder_(DecoderFor(record.block_coding)) {
  if (decoder_ != nullptr) out_.Reserve(kPieceBytes);
}

Result<std::string_view> BlockStream::Read() {
  if (error_) return *error_;
  if (ended_) return std::string_view();
  Result<std::string_view> piece = decoder_ != nullptr ? Decode() : reader_.ReadBlock();
  if (!piece) {
    error_ = piece.error();
  } else {
    ended_ = piece->empty();
  }
  return piece;
}

Result<std::string_view> BlockStream::Decode() {
  for (;;) {
    bool no_more = false;
    if (in_.empty()) {
      Result<std::string_view> piece = reader_.ReadBlock();
      if (!piece) return piece;
      in_ = *piece;
      no_more = in_.empty();
    }
    if (stream_done_) {
      Result<bool> goes_on = GoesOn();
      if (!goes_on) return goes_on.error();
      if (!*goes_on) return std::string_view();
    }
    Result<codec::Progress> step = decoder_->Decode(in_, {out_.data(), out_.capacity()});
    if (!step) return step.error();
    in_.remove_prefix(step->consumed);
    decoded_ += step->produced;
    stream_done_ = step->done;
    if (expected_ && decoded_ > *expected_) {
      return Error{
          ErrorCode::kCorrupt,
          fmt::format("the compressed block should have {} bytes, but has more", *expected_)};
    }
    if (step->produced > 0) return std::string_view(out_.data(), step->produced);
    if (no_more && !stream_done_) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("the compressed block is cut off after {} bytes", decoded_)};
    }
  }
}

Result<bool> BlockStream::GoesOn() {
  if (!in_.empty()) {
    if (coding_ != BlockCoding::kGzip) {
      return Error{ErrorCode::kCorrupt, "bytes follow the compressed data in the block"};
    }
    decoder_->Reset();
    stream_done_ = false;
    return true;
  }
  if (expected_ && decoded_ != *expected_) {
    return Error{ErrorCode::kCorrupt, fmt::format("the compressed block should have {} bytes, but "
                                                  "has {}",
                                                  *expected_, decoded_)};
  }
  return false;
}

}  // namespace stele::record
