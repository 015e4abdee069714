// The header is read by our own parser, because ISA-L forgets the header checksum between calls;
// from there ISA-L inflates and compares CRC32 and ISIZE. ISA-L reads up to eight bytes ahead, and
// a member ends in eight bytes of trailer, so it never holds a byte that follows the member.
#include "codec/gzip_decoder.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>

namespace stele::codec {
namespace {

// ISA-L counts in 32 bits.
constexpr std::size_t kStepMax = std::size_t{1} << 30;

}  // namespace

GzipDecoder::GzipDecoder() : state_(std::make_unique_for_overwrite<inflate_state>()) { Reset(); }

GzipDecoder::~GzipDecoder() = default;

void GzipDecoder::Reset() {
  header_.Reset();
  isal_inflate_init(state_.get());
  state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
  done_ = false;
  error_.reset();
}

bool GzipDecoder::Inflate(std::string_view in, std::span<char> out, Progress& progress) {
  in = in.substr(0, kStepMax);
  out = out.first(std::min(out.size(), kStepMax));
  // ISA-L does not write to its input; its interface only lacks the const.
  state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
  state_->avail_in = static_cast<std::uint32_t>(in.size());
  state_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
  state_->avail_out = static_cast<std::uint32_t>(out.size());
  const int outcome = isal_inflate(state_.get());
  // On bad data ISA-L may count input it was never given.
  progress.consumed += in.size() - std::min<std::size_t>(state_->avail_in, in.size());
  progress.produced += out.size() - std::min<std::size_t>(state_->avail_out, out.size());
  done_ = outcome == ISAL_DECOMP_OK && state_->block_state == ISAL_BLOCK_FINISH;
  progress.done = done_;
  return outcome == ISAL_DECOMP_OK;
}

Result<Progress> GzipDecoder::Decode(std::string_view in, std::span<char> out) {
  if (error_) return *error_;
  Progress progress;
  if (done_) {
    progress.done = true;
    return progress;
  }
  switch (header_.Parse(in, progress.consumed)) {
    case GzipHeaderParser::State::kMore:
      return progress;
    case GzipHeaderParser::State::kBad:
      error_ = Error{ErrorCode::kCorrupt, "no valid gzip header"};
      return *error_;
    case GzipHeaderParser::State::kDone:
      break;
  }
  if (!Inflate(in.substr(progress.consumed), out, progress)) {
    error_ = Error{ErrorCode::kCorrupt, "bad deflate data or checksum in a gzip member"};
    if (progress.produced == 0) return *error_;
  }
  return progress;
}

}  // namespace stele::codec
