#include "store/container_cut.h"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/buffer.h"
#include "codec/crc32.h"
#include "store/container_record.h"
#include "store/packed_content.h"

namespace stele::store {
namespace {

constexpr std::size_t kFirstReadBytes = 256 << 10;
constexpr std::size_t kTailBytes = 9 + 8;  // the last block, checksum and size
constexpr std::size_t kBlockHeaderBytes = 5;
constexpr std::size_t kAddedBytes = 10 + 2 + 8;  // before and behind the content

std::uint32_t NumberAt(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Where the content's deflate blocks are in a record, and the checksum of the content.
struct Cut {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t crc = 0;
};

// `start` is at least the record's head, if the record is what it should be; `tail` its last bytes.
std::optional<Cut> FindCut(std::string_view start, std::string_view tail, std::uint64_t length,
                           std::uint64_t content_size) {
  const std::string_view gzip = RecordPacker::kGzipHeader;
  if (!start.starts_with(gzip) || start.size() < gzip.size() + kBlockHeaderBytes) return {};
  const std::uint32_t sizes = NumberAt(start, gzip.size() + 1);
  const std::size_t head_size = sizes & 0xffff;
  if (start[gzip.size()] != '\0' || (sizes >> 16 ^ head_size) != 0xffff) return {};
  const std::size_t begin = gzip.size() + kBlockHeaderBytes + head_size;
  if (start.size() < begin || length < begin + kTailBytes) return {};
  const std::string_view head = start.substr(begin - head_size, head_size);
  if (!head.ends_with(RecordPacker::kRecordEnd)) return {};
  if (!tail.starts_with(RecordPacker::kLastBlock)) return {};
  const std::uint64_t all = head_size + content_size + RecordPacker::kRecordEnd.size();
  if (NumberAt(tail, 13) != static_cast<std::uint32_t>(all)) return {};
  const std::uint32_t crc =
      codec::Crc32OfMiddle(NumberAt(tail, 9), codec::Crc32(0, head), content_size,
                           codec::Crc32(0, RecordPacker::kRecordEnd));
  return Cut{begin, length - kTailBytes, crc};
}

// A header, a part of a file, of which the begin has been read already, and an end.
class CutSource final : public io::Source {
 public:
  CutSource(std::shared_ptr<const io::ReadableFile> file, std::uint64_t record, const Cut& cut,
            codec::Buffer start, std::uint64_t content_size)
      : file_(std::move(file)),
        offset_(record + std::min<std::uint64_t>(start.size(), cut.end)),
        end_(record + cut.end),
        start_(std::move(start)),
        header_left_(RecordPacker::kGzipHeader),
        start_left_(start_.view().substr(0, cut.end).substr(cut.begin)),
        last_(EndOfMember(cut.crc, content_size)),
        last_left_(last_) {}

  Result<std::size_t> Read(std::span<char> out) override {
    std::size_t done = Take(header_left_, out);
    done += Take(start_left_, out.subspan(done));
    if (offset_ == end_) return done + Take(last_left_, out.subspan(done));
    if (done > 0 || out.empty()) return done;
    const std::size_t want = std::min<std::uint64_t>(out.size(), end_ - offset_);
    const Result<std::size_t> read = file_->ReadAt(offset_, out.first(want));
    if (!read) return read;
    if (*read == 0) return Error{ErrorCode::kCorrupt, "its container is cut off"};
    offset_ += *read;
    return read;
  }

 private:
  static std::size_t Take(std::string_view& from, std::span<char> out) {
    const std::size_t size = std::min(from.size(), out.size());
    std::copy_n(from.data(), size, out.data());
    from.remove_prefix(size);
    return size;
  }

  const std::shared_ptr<const io::ReadableFile> file_;
  std::uint64_t offset_;  // of what is to be read next
  const std::uint64_t end_;
  const codec::Buffer start_;
  std::string_view header_left_;
  std::string_view start_left_;  // of start_
  const std::string last_;
  std::string_view last_left_;
};

}  // namespace

Result<std::optional<PackedContent>> CutContent(std::shared_ptr<const io::ReadableFile> file,
                                                const RecordLocation& location,
                                                std::uint64_t content_size) {
  codec::Buffer start;
  const std::size_t want = std::min<std::uint64_t>(location.length, kFirstReadBytes);
  start.Reserve(want);
  const Result<std::size_t> read = file->ReadAt(location.offset, std::span(start.data(), want));
  if (!read) return read.error();
  start.SetSize(*read);
  std::string tail(kTailBytes, '\0');
  if (*read < want || want < kTailBytes) return std::optional<PackedContent>();
  if (want == location.length) {
    tail = start.view().substr(want - kTailBytes);
  } else {
    const Result<std::size_t> end =
        file->ReadAt(location.offset + location.length - kTailBytes, tail);
    if (!end) return end.error();
    if (*end < kTailBytes) return std::optional<PackedContent>();
  }
  const std::optional<Cut> cut = FindCut(start.view(), tail, location.length, content_size);
  if (!cut) return std::optional<PackedContent>();
  PackedContent content{"gzip", content_size, cut->end - cut->begin + kAddedBytes, nullptr};
  content.bytes = std::make_unique<CutSource>(std::move(file), location.offset, *cut,
                                              std::move(start), content_size);
  return std::optional(std::move(content));
}

}  // namespace stele::store
