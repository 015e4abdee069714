#include "catalog/pisa_segment.h"

#include "catalog/pisa_cursor.h"
#include "catalog/pisa_page.h"

namespace stele::catalog {

Result<std::unique_ptr<PisaSegment>> PisaSegment::Open(io::FileSystem& fs, std::string path,
                                                       PageCache& cache) {
  Result<std::unique_ptr<PageFile>> file =
      PageFile::Open(fs, std::move(path), kPisaSegmentKind, cache);
  if (!file) return file.error();
  Result<PisaSegmentSummary> summary = ParsePisaSummary((*file)->summary());
  if (!summary) return (*file)->Corrupt(summary.error().text);
  return std::unique_ptr<PisaSegment>(new PisaSegment(std::move(*file), std::move(*summary)));
}

Result<PisaBlockPointer> PisaSegment::Read(PisaBlockNumber number) const {
  return ReadBy(&PageFile::Read, number);
}

Result<PisaBlockPointer> PisaSegment::ReadBy(ReadPage read, PisaBlockNumber number) const {
  if (number >= file_->pages()) return Corrupt(number, "the file has no such page");
  const auto page_number = static_cast<std::uint32_t>(number);
  const Result<Page> page = (*file_.*read)(page_number);
  if (!page) return page.error();
  Result<PisaBlock> block = ParsePisaPage(**page, summary_.clock);
  if (!block) return file_->CorruptPage(page_number, block.error().text);
  return PisaBlockPointer(std::make_shared<const PisaBlock>(std::move(*block)));
}

Error PisaSegment::Corrupt(PisaBlockNumber number, std::string_view what) const {
  if (number < file_->pages()) return file_->CorruptPage(static_cast<std::uint32_t>(number), what);
  return file_->Corrupt("page " + std::to_string(number) + ": " + std::string(what));
}

Status PisaSegment::Validate(const std::function<void(const Error&)>& report) const {
  bool found = false;
  const auto find = [&](const Error& error) {
    found = true;
    report(error);
  };
  file_->Verify(find);
  if (found) return {};  // what is built on damaged pages would only be reported again
  const Result<PisaCounts> counts = CheckPisa(*this, summary_.limits, find);
  if (!counts) return counts.error();
  if (found) return {};
  if (counts->blocks != file_->pages()) {
    report(file_->Corrupt("it has pages that belong to no tree"));
  }
  std::uint64_t keys = 0;
  PisaCursor cursor(*this, StateAt(Timestamp{end().milliseconds - 1}));
  for (;;) {
    const Result<bool> more = cursor.Next();
    if (!more) return more.error();
    if (!*more) break;
    ++keys;
  }
  if (keys != summary_.keys) {
    report(file_->Corrupt("it has other keys than it says"));
  }
  return {};
}

}  // namespace stele::catalog
