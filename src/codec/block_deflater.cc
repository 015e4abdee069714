// A full flush gives what is wanted: an empty stored block, which ends at a byte boundary, closes
// what came before, and nothing behind it refers to what stood before it.
#include "codec/block_deflater.h"

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "util/check.h"

namespace stele::codec {
namespace {

constexpr int kFastLevels = 3;
constexpr int kMemoryLevel = 9;
// Both libraries count in 32 bits.
constexpr std::size_t kStepMax = std::size_t{1} << 30;
constexpr std::size_t kRoomMin = 4096;

struct FastLevel {
  std::uint32_t level;
  std::uint32_t memory;
};
// ISA-L's level 2 is hardly smaller than its level 1.
constexpr std::array<FastLevel, kFastLevels> kFast = {
    FastLevel{0, 0}, FastLevel{1, ISAL_DEF_LVL1_DEFAULT}, FastLevel{3, ISAL_DEF_LVL3_DEFAULT}};

// Room for a piece that does not shrink; loops take care of the rest.
void MakeRoom(std::size_t piece, Buffer& out) {
  const std::size_t wanted = out.size() + piece + piece / 64 + kRoomMin;
  if (out.capacity() < wanted) out.Reserve(std::max(wanted, 2 * out.capacity()));
}

}  // namespace

BlockDeflater::BlockDeflater(int level) : level_(std::clamp(level, 1, 9)) {
  if (level_ <= kFastLevels) {
    const FastLevel& fast = kFast[static_cast<std::size_t>(level_) - 1];
    fast_ = std::make_unique_for_overwrite<isal_zstream>();
    isal_deflate_init(fast_.get());
    if (fast.memory > 0) {
      fast_memory_ = std::make_unique_for_overwrite<std::uint8_t[]>(fast.memory);
    }
    fast_->level = fast.level;
    fast_->level_buf = fast_memory_.get();
    fast_->level_buf_size = fast.memory;
  } else {
    small_ = std::make_unique<z_stream_s>();
    const int outcome = deflateInit2(small_.get(), level_, Z_DEFLATED, -MAX_WBITS, kMemoryLevel,
                                     Z_DEFAULT_STRATEGY);
    Check(outcome == Z_OK);
  }
}

BlockDeflater::~BlockDeflater() {
  if (small_ != nullptr) deflateEnd(small_.get());
}

void BlockDeflater::Deflate(std::string_view piece, bool last, Buffer& out) {
  if (fast_ != nullptr) {
    DeflateFast(piece, last, out);
  } else {
    DeflateSmall(piece, last, out);
  }
}

void BlockDeflater::DeflateFast(std::string_view piece, bool last, Buffer& out) {
  do {
    const std::string_view step = piece.substr(0, kStepMax);
    piece.remove_prefix(step.size());
    const bool flush = last && piece.empty();
    fast_->flush = flush ? FULL_FLUSH : NO_FLUSH;
    fast_->end_of_stream = 0;
    fast_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(step.data()));
    fast_->avail_in = static_cast<std::uint32_t>(step.size());
    do {
      MakeRoom(fast_->avail_in, out);
      const std::size_t room = std::min(out.capacity() - out.size(), kStepMax);
      fast_->next_out = reinterpret_cast<std::uint8_t*>(out.data() + out.size());
      fast_->avail_out = static_cast<std::uint32_t>(room);
      Check(isal_deflate(fast_.get()) == COMP_OK);
      out.SetSize(out.size() + room - fast_->avail_out);
    } while (fast_->avail_in > 0 || fast_->avail_out == 0);
    if (flush) isal_deflate_reset(fast_.get());
  } while (!piece.empty());
}

void BlockDeflater::DeflateSmall(std::string_view piece, bool last, Buffer& out) {
  do {
    const std::string_view step = piece.substr(0, kStepMax);
    piece.remove_prefix(step.size());
    const bool flush = last && piece.empty();
    small_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(step.data()));
    small_->avail_in = static_cast<uInt>(step.size());
    do {
      MakeRoom(small_->avail_in, out);
      const std::size_t room = std::min(out.capacity() - out.size(), kStepMax);
      small_->next_out = reinterpret_cast<Bytef*>(out.data() + out.size());
      small_->avail_out = static_cast<uInt>(room);
      const int outcome = deflate(small_.get(), flush ? Z_FULL_FLUSH : Z_NO_FLUSH);
      Check(outcome == Z_OK || outcome == Z_BUF_ERROR);
      out.SetSize(out.size() + room - small_->avail_out);
    } while (small_->avail_out == 0);
    if (flush) deflateReset(small_.get());
  } while (!piece.empty());
}

std::unique_ptr<BlockDeflater> BlockDeflaterPool::Take(int level) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& deflater) {
      return deflater->level() == level;
    });
    if (found != free_.end()) {
      std::unique_ptr<BlockDeflater> deflater = std::move(*found);
      free_.erase(found);
      return deflater;
    }
  }
  return std::make_unique<BlockDeflater>(level);
}

void BlockDeflaterPool::Give(std::unique_ptr<BlockDeflater> deflater) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(deflater));
}

}  // namespace stele::codec
