#include "dedup/archive_originals.h"

#include "archive/http_head.h"
#include "archive/revisit_resolver.h"
#include "formats/http/message.h"
#include "formats/url/surt.h"
#include "util/check.h"

namespace stele::dedup {
namespace {

// Captures of a key that are looked at: a document may go back to what it was before.
constexpr int kCapturesAtKey = 8;
constexpr int kNotModified = 304;

// So much of a digest is in filter and table. Rows are asked for all of it.
template <std::size_t kSize>
std::string_view Shortened(const std::array<char, kSize>& digest) {
  return {digest.data(), sizeof(DigestTable::Short)};
}

PayloadDigest DigestOf(const catalog::Capture& row) {
  return {.sha1 = row.sha1, .sha256 = row.sha256};
}

KnownDocument DocumentOf(const catalog::Capture& row) {
  KnownDocument document;
  document.url = row.url;
  document.time = row.time;
  document.seen = row.time;
  document.digest = DigestOf(row);
  document.capture = row.id;
  document.place = row.place;
  document.is_revisit = (row.flags & catalog::kRevisit) != 0;
  document.type = row.type;
  document.status = row.status;
  document.length = row.length;
  return document;
}

bool IsWhole(const catalog::Capture& row) {
  return (row.flags & (catalog::kRemoved | catalog::kTruncated)) == 0;
}

bool IsOriginal(const catalog::Capture& row) {
  return IsWhole(row) && (row.flags & catalog::kRevisit) == 0 && row.length > 0 && row.sha256;
}

// Originals of many revisits may be elsewhere, and nobody wants to look through the archive for
// each.
Result<catalog::HeldCapture> OriginalOf(const archive::ArchiveView& view,
                                        const catalog::HeldCapture& revisit) {
  using archive::RevisitResolver;
  return RevisitResolver(view, RevisitResolver::Effort::kLookUps).Resolve(revisit);
}

// Reads the head of the response that a record has, and no more. False: it has none.
Result<bool> ReadHeaders(archive::StoredRecord& stored, KnownDocument& document) {
  const Result<std::string> raw = archive::ReadResponseHead(stored);
  if (!raw) return raw.error();
  const Result<http::ResponseHead> head = http::ParseResponseHead(*raw);
  if (!head || head->status == kNotModified) return false;
  document.etag = head->headers.Find("ETag").value_or("");
  document.last_modified = head->headers.Find("Last-Modified").value_or("");
  document.coding = head->headers.Find("Content-Encoding").value_or("");
  return true;
}

}  // namespace

ArchiveOriginals::ArchiveOriginals(CurrentView view)
    : current_view_(std::move(view)),
      view_(std::make_shared<const archive::ArchiveView>(current_view_())) {}

ArchiveOriginals::View ArchiveOriginals::Current() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

Status ArchiveOriginals::LoadDigests(DigestTable& table) {
  const View view = Current();
  filter_ =
      std::make_unique<KeyFilter>(view->holdings().CaptureCount() + kFilteredMore, kFilterBytes);
  table_ = &table;
  catalog::CaptureScan scan = view->catalog().Scan({});
  for (;;) {
    Result<const catalog::Capture*> row = scan.Next();
    if (!row) return row.error();
    if (*row == nullptr) return {};
    const catalog::Capture& capture = **row;
    if (!IsWhole(capture)) continue;
    if (capture.sha256) filter_->Add(Shortened(*capture.sha256));
    if (!capture.sha256 && capture.sha1) {
      filter_->Add(Shortened(*capture.sha1));
      has_only_sha1_ = true;
    }
    if (!IsOriginal(capture)) continue;
    const Status added = table.Add(DigestTable::ShortOf(*capture.sha256), capture.id);
    if (!added) return added;
  }
}

void ArchiveOriginals::Learn(const catalog::CaptureId& id, const PayloadDigest& digest) {
  Check(table_ != nullptr);
  if (!digest.sha256 || HasFailed()) return;
  const Status added = table_->Add(DigestTable::ShortOf(*digest.sha256), id);
  filter_->Add(Shortened(*digest.sha256));
  if (added) return;
  const std::lock_guard lock(mutex_);
  failed_ = added.error();
}

std::optional<Error> ArchiveOriginals::HasFailed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

Result<catalog::HeldCapture> ArchiveOriginals::Get(const catalog::CaptureId& id) {
  Result<catalog::HeldCapture> held = Current()->catalog().Get(id);
  if (held || held.error().code != ErrorCode::kNotFound) return held;
  auto newer = std::make_shared<const archive::ArchiveView>(current_view_());
  held = newer->catalog().Get(id);
  const std::lock_guard lock(mutex_);
  view_ = std::move(newer);
  return held;
}

Status ArchiveOriginals::VisitKeyOf(std::string_view url,
                                    const std::function<bool(const catalog::Capture& row)>& visit) {
  const View view = Current();
  const std::string key = catalog::LocationKey(url::SurtKey(url));
  const std::unique_ptr<catalog::LocationCursor> cursor = view->catalog().NewLocationCursor();
  catalog::LocationEntry at = catalog::LastOf(key);
  for (int i = 0; i < kCapturesAtKey; ++i) {
    const catalog::LocationCursor::Move move = cursor->SeekBack(at);
    if (!move) return move.error();
    if (*move == nullptr || (*move)->key != key) break;
    at = {key, (*move)->time, (*move)->id};
    const Result<catalog::HeldCapture> held = view->catalog().Get(at.id);
    if (!held) return held.error();
    const bool counts = IsWhole(held->row) && !judged_anew_.contains(at.id);
    if (counts && !visit(held->row)) break;
    if (!catalog::StepBack(at)) break;
  }
  return {};
}

bool ArchiveOriginals::MayHave(const PayloadDigest& digest) const {
  if (filter_ == nullptr || !digest.sha256) return true;
  return filter_->MayHave(Shortened(*digest.sha256)) ||
         (has_only_sha1_ && digest.sha1 && filter_->MayHave(Shortened(*digest.sha1)));
}

OriginalSource::Documents ArchiveOriginals::ByUrl(std::string_view url) {
  std::vector<KnownDocument> documents;
  const Status visited = VisitKeyOf(url, [&](const catalog::Capture& row) {
    if (row.url == url) documents.push_back(DocumentOf(row));
    return true;
  });
  if (!visited) return visited.error();
  return documents;
}

OriginalSource::Documents ArchiveOriginals::NewestByUrl(std::string_view url) {
  std::vector<KnownDocument> documents;
  const Status visited = VisitKeyOf(url, [&](const catalog::Capture& row) {
    if (row.url == url) documents.push_back(DocumentOf(row));
    return documents.empty();
  });
  if (!visited) return visited.error();
  return documents;
}

OriginalSource::Documents ArchiveOriginals::NewestWith(std::string_view url,
                                                       const PayloadDigest& digest,
                                                       bool or_equivalent) {
  std::vector<KnownDocument> documents;
  const Status visited = VisitKeyOf(url, [&](const catalog::Capture& row) {
    const bool is_exact = row.url == url;
    const bool is_wanted = is_exact || (or_equivalent && documents.empty());
    if (!is_wanted || !DigestOf(row).SameAs(digest)) return true;
    documents.assign(1, DocumentOf(row));
    documents.front().is_equivalent = !is_exact;
    return !is_exact;
  });
  if (!visited) return visited.error();
  return documents;
}

OriginalSource::Documents ArchiveOriginals::ByEquivalentUrl(std::string_view url,
                                                            const PayloadDigest& digest) {
  std::vector<KnownDocument> documents;
  const Status visited = VisitKeyOf(url, [&](const catalog::Capture& row) {
    if (row.url != url && DigestOf(row).SameAs(digest)) documents.push_back(DocumentOf(row));
    return true;
  });
  if (!visited) return visited.error();
  return documents;
}

OriginalSource::Documents ArchiveOriginals::ByDigest(const PayloadDigest& digest) {
  std::vector<KnownDocument> documents;
  if (!digest.sha256 || table_ == nullptr) return documents;
  if (const std::optional<Error> failed = HasFailed()) return *failed;
  const Result<std::optional<catalog::CaptureId>> id =
      table_->Find(DigestTable::ShortOf(*digest.sha256));
  if (!id) return id.error();
  if (!*id) return documents;
  Result<catalog::HeldCapture> held = Get(**id);
  if (!held && held.error().code == ErrorCode::kNotFound) return documents;
  if (!held) return held.error();
  if (IsOriginal(held->row) && held->row.sha256 == digest.sha256) {
    documents.push_back(DocumentOf(held->row));
    documents.back().is_judged_anew = judged_anew_.contains(**id);
  }
  return documents;
}

// A revisit has the headers of its own response, which count: those of its original may be of
// another URL. Where the server only said that nothing changed, they are what it said before.
Status ArchiveOriginals::TakeHeaders(KnownDocument& document) {
  Result<catalog::HeldCapture> held = Get(*document.capture);
  if (!held) return held.error();
  const View view = Current();
  Result<std::unique_ptr<archive::StoredRecord>> stored = view->Open(held->row);
  if (!stored) return stored.error();
  const Result<bool> has_headers = ReadHeaders(**stored, document);
  if (!has_headers) return has_headers.error();
  if (*has_headers || (held->row.flags & catalog::kRevisit) == 0) return {};
  const Result<catalog::HeldCapture> original = OriginalOf(*view, *held);
  if (!original) return original.error();
  if (original->row.url != document.url) return {};
  document.status = original->row.status;
  document.type = original->row.type;
  stored = view->Open(original->row);
  if (!stored) return stored.error();
  const Result<bool> read = ReadHeaders(**stored, document);
  return read ? Status() : read.error();
}

Status ArchiveOriginals::Complete(KnownDocument& document) {
  if (document.is_revisit) {
    Result<catalog::HeldCapture> held = Get(*document.capture);
    if (held) held = OriginalOf(*Current(), *held);
    if (!held) return held.error();
    document.url = held->row.url;
    document.time = held->row.time;
    document.digest = DigestOf(held->row);
    document.capture = held->row.id;
    document.place = held->row.place;
    document.is_revisit = false;
    document.length = held->row.length;
  }
  catalog::Capture row;
  row.url = document.url;
  row.time = document.time;
  row.place = document.place;
  Result<std::unique_ptr<archive::StoredRecord>> stored = Current()->Open(row);
  if (!stored) return stored.error();
  document.record_id = (*stored)->record().record_id();
  return {};
}

}  // namespace stele::dedup
