#include "dedup/archive_originals.h"
#include "dedup/document_reader.h"

namespace stele::dedup {
namespace {

class ArchiveDocuments final : public DocumentReader {
 public:
  explicit ArchiveDocuments(const archive::ArchiveView& view)
      : originals_([&view] { return view; }), scan_(view.catalog().Scan({})) {}

  Result<CrawledDocument*> Next() override {
    for (;;) {
      Result<const catalog::Capture*> next = scan_.Next();
      if (!next) return next.error();
      if (*next == nullptr) return nullptr;
      const catalog::Capture& row = **next;
      if (catalog::IsRemoved(row)) continue;
      // Of what repeats an earlier document, all of that is there.
      if ((row.flags & catalog::kTruncated) != 0 && !catalog::IsRevisit(row)) continue;
      document_ = {};
      document_.url = document_.known.url = row.url;
      document_.known.time = document_.known.seen = row.time;
      document_.known.digest = {.sha1 = row.sha1, .sha256 = row.sha256};
      document_.known.capture = row.id;
      document_.known.place = row.place;
      document_.known.is_revisit = (row.flags & catalog::kRevisit) != 0;
      document_.type = row.type;
      document_.status = row.status;
      document_.length = row.length;
      document_.is_duplicate = document_.known.is_revisit;
      Status completed = originals_.TakeHeaders(document_.known);
      if (completed) completed = originals_.Complete(document_.known);
      if (completed) return &document_;
      if (completed.error().code != ErrorCode::kNotFound) return completed.error();
      ++skipped_;
    }
  }
  std::uint64_t skipped() const override { return skipped_; }

 private:
  ArchiveOriginals originals_;
  catalog::CaptureScan scan_;
  CrawledDocument document_;
  std::uint64_t skipped_ = 0;
};

}  // namespace

std::unique_ptr<DocumentReader> ReadArchive(const archive::ArchiveView& view) {
  return std::make_unique<ArchiveDocuments>(view);
}

}  // namespace stele::dedup
