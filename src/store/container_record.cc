#include "store/container_record.h"

#include <algorithm>

#include "codec/crc32.h"
#include "util/check.h"

namespace stele::store {
namespace {

constexpr std::size_t kStoredBytesMax = 65'535;

void AppendStoredHeader(std::size_t size, codec::Buffer& out) {
  const char header[] = {'\0', static_cast<char>(size), static_cast<char>(size >> 8),
                         static_cast<char>(~size), static_cast<char>(~size >> 8)};
  out.Append({header, sizeof header});
}

void AppendNumber(codec::Buffer& out, std::uint32_t value) {
  char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.Append({bytes, sizeof bytes});
}

}  // namespace

void RecordPacker::AppendStored(std::string_view bytes, codec::Buffer& out) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kStoredBytesMax))) {
    const std::string_view block = bytes.substr(0, kStoredBytesMax);
    AppendStoredHeader(block.size(), out);
    out.Append(block);
  }
}

void RecordPacker::Begin(std::string_view head) {
  Check(head.size() <= kHeadBytesMax);
  out_.Append(kGzipHeader);
  AppendStoredHeader(head.size(), out_);
  out_.Append(head);
  Count(head);
}

void RecordPacker::Add(std::string_view piece) {
  Check(piece.size() <= content_left_);
  if (piece.empty()) return;
  Count(piece);
  if (deflater_ != nullptr) {
    content_left_ -= piece.size();
    deflater_->Deflate(piece, content_left_ == 0, out_);
    return;
  }
  while (!piece.empty()) {
    if (stored_left_ == 0) {
      stored_left_ = std::min<std::uint64_t>(kStoredBytesMax, content_left_);
      AppendStoredHeader(stored_left_, out_);
    }
    const std::string_view part = piece.substr(0, stored_left_);
    out_.Append(part);
    stored_left_ -= part.size();
    content_left_ -= part.size();
    piece.remove_prefix(part.size());
  }
}

void RecordPacker::BeginBlocks(std::uint32_t content_crc) {
  crc_ = codec::Crc32OfBoth(crc_, content_crc, content_left_);
  size_ += static_cast<std::uint32_t>(content_left_);
  content_left_ = 0;
}

void RecordPacker::End() {
  Check(content_left_ == 0);
  out_.Append(kLastBlock);
  Count(kRecordEnd);
  AppendNumber(out_, crc_);
  AppendNumber(out_, size_);
}

void RecordPacker::Count(std::string_view plain) {
  crc_ = codec::Crc32(crc_, plain);
  size_ += static_cast<std::uint32_t>(plain.size());  // gzip counts modulo 2^32
}

}  // namespace stele::store
