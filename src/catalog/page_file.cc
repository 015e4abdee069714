#include "catalog/page_file.h"

#include <fmt/format.h>

#include "catalog/page_file_format.h"
#include "catalog/page_frame.h"
#include "util/check.h"

namespace stele::catalog {

PageFile::PageFile(std::string path, PageCache& cache, std::string_view remedy)
    : path_(std::move(path)), remedy_(remedy), cache_(cache), number_(cache.NewFile()) {}

PageFile::~PageFile() { cache_.Forget(number_, index_.size()); }

Result<std::unique_ptr<PageFile>> PageFile::Open(io::FileSystem& fs, std::string path,
                                                 std::string_view kind, PageCache& cache,
                                                 std::string_view remedy) {
  std::unique_ptr<PageFile> file(new PageFile(std::move(path), cache, remedy));
  Result<std::unique_ptr<io::ReadableFile>> opened = fs.OpenForReading(file->path_);
  if (!opened) return opened.error();
  file->file_ = std::move(*opened);
  if (const Status status = file->Load(kind); !status) return status.error();
  return file;
}

Status PageFile::Load(std::string_view kind) {
  const Result<std::uint64_t> size = file_->Size();
  if (!size) return size.error();
  bytes_ = *size;
  if (bytes_ < kPageFileHeadSize + kPageFileTailSize) return Corrupt("too short for a page file");
  const Result<std::string> head = ReadBytes(0, kPageFileHeadSize);
  if (!head) return head.error();
  if (*head != FormatPageFileHead(kind)) {
    return Corrupt(fmt::format("its first {} bytes are not those of a page file of kind \"{}\"",
                               kPageFileHeadSize, kind));
  }
  const std::uint64_t end = bytes_ - kPageFileTailSize;
  const Result<std::string> last = ReadBytes(end, kPageFileTailSize);
  if (!last) return last.error();
  PageFileTail tail;
  if (!ParsePageFileTail(*last, end, tail)) {
    return Corrupt(fmt::format("its last {} bytes, from byte {} on, are not the end of a page file",
                               kPageFileTailSize, end));
  }
  Result<std::string> summary = ReadFrame(
      tail.summary_offset, tail.index_offset - tail.summary_offset, kPageBytesMax, "the summary");
  if (!summary) return summary.error();
  summary_ = std::move(*summary);
  const Result<std::string> text =
      ReadFrame(tail.index_offset, end - tail.index_offset, kIndexBytesMax, "the page index");
  if (!text) return text.error();
  Result<PageIndex> index = PageIndex::Parse(*text);
  if (!index) return Corrupt(index.error().text);
  if (index->end() != tail.summary_offset) return Corrupt("its page index is of another file");
  index_ = std::move(*index);
  return {};
}

Result<std::string> PageFile::ReadBytes(std::uint64_t offset, std::uint64_t length) const {
  std::string bytes(length, '\0');
  const Result<std::size_t> read = file_->ReadAt(offset, bytes);
  if (!read) return read.error();
  if (*read != length) {
    return Corrupt(fmt::format("ends at byte {}, {} bytes short", offset + *read, length - *read));
  }
  return bytes;
}

Result<std::string> PageFile::ReadFrame(std::uint64_t offset, std::uint64_t length,
                                        std::size_t plain_max, const std::string& name) const {
  const Result<std::string> frame = ReadBytes(offset, length);
  if (!frame) return frame.error();
  std::unique_ptr<codec::Decoder> decoder = cache_.BorrowDecoder();
  Result<std::string> plain = OpenFrame(*frame, offset, plain_max, *decoder);
  cache_.GiveBack(std::move(decoder));
  if (plain) return plain;
  return CorruptFrame(name, offset, plain.error());
}

Error PageFile::CorruptFrame(const std::string& name, std::uint64_t offset,
                             const Error& why) const {
  return Corrupt(fmt::format("{} at byte {} is damaged ({})", name, offset, why.text));
}

Result<Page> PageFile::Read(std::uint32_t page) const {
  if (Page cached = cache_.Find(number_, page)) return cached;
  Result<Page> content = ReadPast(page);
  if (content) cache_.Insert(number_, page, *content);
  return content;
}

Result<Page> PageFile::ReadPast(std::uint32_t page) const {
  Check(page < index_.size());
  Result<std::string> plain = ReadFrame(index_.offset(page), index_.length(page), kPageBytesMax,
                                        fmt::format("page {}", page));
  if (!plain) return plain.error();
  return Page(std::make_shared<const std::string>(std::move(*plain)));
}

Status PageFile::CheckPage(std::uint32_t page) const {
  Check(page < index_.size());
  const std::uint64_t offset = index_.offset(page);
  const Result<std::string> frame = ReadBytes(offset, index_.length(page));
  if (!frame) return frame.error();
  const Status checked = CheckFrame(*frame, offset);
  return checked ? checked : CorruptFrame(fmt::format("page {}", page), offset, checked.error());
}

void PageFile::Verify(const std::function<void(const Error&)>& report) const {
  for (std::uint32_t page = 0; page < index_.size(); ++page) {
    if (const Result<Page> content = ReadPast(page); !content) report(content.error());
  }
}

Error PageFile::Corrupt(std::string_view what) const {
  return {ErrorCode::kCorrupt, fmt::format("{}: {}; {}", path_, what, remedy_)};
}

Error PageFile::CorruptPage(std::uint32_t page, std::string_view what) const {
  return Corrupt(
      fmt::format("page {} at byte {} makes no sense ({})", page, index_.offset(page), what));
}

}  // namespace stele::catalog
