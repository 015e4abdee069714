#include "cli/held_block.h"

#include <algorithm>

namespace stele::cli {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;

}  // namespace

HeldBlock::HeldBlock(io::FileSystem& fs, std::string spill_path, std::size_t memory_max)
    : fs_(fs), spill_path_(std::move(spill_path)), memory_max_(memory_max) {}

HeldBlock::~HeldBlock() { Clear(); }

void HeldBlock::Clear() {
  if (file_ != nullptr) {
    file_.reset();
    // Where that fails, a temporary file stays behind and nothing else is wrong.
    static_cast<void>(fs_.Remove(spill_path_).ok());
  }
  memory_.clear();
  size_ = 0;
}

Status HeldBlock::Append(std::string_view piece) {
  memory_ += piece;
  size_ += piece.size();
  return memory_.size() <= memory_max_ ? Status() : Spill();
}

Status HeldBlock::Spill() {
  if (file_ == nullptr) {
    Result<std::unique_ptr<io::WritableFile>> created = fs_.Create(spill_path_);
    if (!created) return created.error();
    file_ = *std::move(created);
  }
  if (const Status written = file_->Append(memory_); !written) return written;
  memory_.clear();
  return {};
}

Status HeldBlock::ForEach(const Take& take, std::uint64_t from) const {
  const std::uint64_t spilled = size_ - memory_.size();
  if (from < spilled) {
    Result<std::unique_ptr<io::ReadableFile>> file = fs_.OpenForReading(spill_path_);
    if (!file) return file.error();
    std::string buffer(kReadBytes, '\0');
    while (from < spilled) {
      const std::size_t want = std::min<std::uint64_t>(buffer.size(), spilled - from);
      Result<std::size_t> read = (*file)->ReadAt(from, {buffer.data(), want});
      if (!read) return read.error();
      if (*read == 0) return Error{ErrorCode::kIo, spill_path_ + " has become shorter"};
      if (const Status taken = take({buffer.data(), *read}); !taken) return taken;
      from += *read;
    }
  }
  const std::string_view rest = std::string_view(memory_).substr(from - spilled);
  return rest.empty() ? Status() : take(rest);
}

}  // namespace stele::cli
