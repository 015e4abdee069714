#include <algorithm>

#include "dedup/document_reader.h"
#include "formats/archive_file/archive_file.h"
#include "formats/cdx/capture_rules.h"
#include "formats/record/block_stream.h"
#include "formats/record/payload.h"
#include "formats/warc/revisit.h"
#include "formats/warc/truncation.h"
#include "util/ascii.h"
#include "util/digest.h"

namespace stele::dedup {
namespace {

using record::Record;
using record::RecordType;

class Sha1Sink final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    length += piece.size();
    hasher.Update(piece);
  }
  std::uint64_t length = 0;
  Hasher hasher{DigestAlgorithm::kSha1};
};

catalog::Sha1Bytes BytesOf(const Digest& digest) {
  catalog::Sha1Bytes bytes;
  std::copy(digest.bytes().begin(), digest.bytes().end(), bytes.begin());
  return bytes;
}

// Of the payload, as a head tells it; 0: it does not.
std::uint64_t LengthIn(const http::ResponseHead& head) {
  if (head.headers.Find("Transfer-Encoding")) return 0;
  return ParseDecimal(TrimSpace(head.headers.Find("Content-Length").value_or(""))).value_or(0);
}

class ArchiveFileReader final : public DocumentReader {
 public:
  explicit ArchiveFileReader(std::unique_ptr<archive_file::ArchiveFile> file)
      : file_(std::move(file)), reader_(file_->reader()) {}

  Result<CrawledDocument*> Next() override {
    for (;;) {
      Result<const Record*> next = reader_.Next();
      if (!next) return next.error();
      if (*next == nullptr) return nullptr;
      const Record& record = **next;
      const bool is_http = StartsWithIgnoreCase(record.target_uri, "http");
      if (!is_http || !cdx::IsCapture(record) || !record.date) continue;
      // Of what repeats an earlier document, all of that is there.
      const bool is_cut_off = warc::TruncationOf(record) != warc::Truncation::kNone;
      if (is_cut_off && record.type != RecordType::kRevisit) continue;
      Result<bool> taken = Take(record);
      if (!taken) return taken.error();
      if (*taken) return &document_;
    }
  }
  std::uint64_t skipped() const override { return reader_.losses().size() + unreadable_; }

 private:
  // False: the record is damaged, or tells no digest.
  Result<bool> Take(const Record& record) {
    document_ = {};
    KnownDocument& known = document_.known;
    document_.url = known.url = record.target_uri;
    known.time = known.seen = *record.date;
    known.record_id = record.record_id();
    const std::optional<Digest> claim =
        Digest::Parse(record.fields.Find("WARC-Payload-Digest").value_or(""));
    if (claim && claim->algorithm() == DigestAlgorithm::kSha1) known.digest.sha1 = BytesOf(*claim);
    const bool is_revisit = record.type == RecordType::kRevisit;
    if (is_revisit && !known.digest.sha1) return false;
    if (is_revisit) TakeRevisit(record);
    return ReadBlock(record, !known.digest.sha1);
  }

  void TakeRevisit(const Record& record) {
    document_.is_duplicate = true;
    const warc::RevisitTarget target = warc::RevisitTargetOf(record);
    const std::optional<Timestamp> date = ParseIso(target.date);
    KnownDocument& known = document_.known;
    if (!target.uri.empty()) known.url = target.uri;
    if (date) known.time = *date;
    known.record_id = target.record_id;
    document_.is_unresolved = !date;
  }

  // The head, and the payload where its digest is wanted.
  Result<bool> ReadBlock(const Record& record, bool wants_digest) {
    const std::uint64_t block_length = record.content_length;
    const std::string record_type(record.content_type);
    const std::string identified(
        document_.is_duplicate ? record.fields.Find("WARC-Identified-Payload-Type").value_or("")
                               : "");
    record::PayloadStream stream;
    stream.Begin(record);
    record::BlockStream block(reader_, record);
    Sha1Sink payload;
    bool at_end = false;
    while (!at_end && (wants_digest || !stream.head_is_known())) {
      Result<std::string_view> piece = block.Read();
      if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
      if (!piece) {
        ++unreadable_;
        return false;
      }
      at_end = piece->empty();
      if (!at_end) stream.Feed(*piece, wants_digest ? &payload : nullptr);
    }
    if (at_end) stream.Finish(wants_digest ? &payload : nullptr);
    KnownDocument& known = document_.known;
    if (wants_digest) known.digest.sha1 = BytesOf(payload.hasher.Finish());
    document_.length =
        wants_digest ? payload.length : block_length - std::min(block_length, stream.head_length());
    document_.type = cdx::MimeOf(record_type);
    if (!identified.empty()) document_.type = cdx::MimeOf(identified);
    if (const http::ResponseHead* head = stream.response()) {
      document_.status = static_cast<std::uint32_t>(std::max(0, head->status));
      document_.type = cdx::MimeOf(head->headers.Find("Content-Type").value_or(""));
      known.etag = head->headers.Find("ETag").value_or("");
      known.last_modified = head->headers.Find("Last-Modified").value_or("");
      if (document_.is_duplicate && document_.length == 0) document_.length = LengthIn(*head);
    }
    return true;
  }

  std::unique_ptr<archive_file::ArchiveFile> file_;
  record::RecordReader& reader_;
  CrawledDocument document_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace

Result<std::unique_ptr<DocumentReader>> ReadArchiveFile(io::FileSystem& fs,
                                                        const std::string& path) {
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(fs, path);
  if (!file) return file.error();
  return std::unique_ptr<DocumentReader>(std::make_unique<ArchiveFileReader>(*std::move(file)));
}

Result<std::unique_ptr<DocumentReader>> ReadDocuments(io::FileSystem& fs, const std::string& path) {
  if (fs.List(path)) {
    return Error{ErrorCode::kInvalid, path +
                                          " is a directory, and no archive: name crawl logs, WARC "
                                          "or ARC files"};
  }
  Result<std::unique_ptr<DocumentReader>> documents = ReadArchiveFile(fs, path);
  if (documents || documents.error().code != ErrorCode::kInvalid) return documents;
  Result<std::unique_ptr<DocumentReader>> log = ReadCrawlLog(fs, path);
  if (!log) return log.error();
  Result<CrawledDocument*> first = (*log)->Next();
  if (!first) return first.error();
  if (*first == nullptr && (*log)->skipped() > 0) {
    return Error{ErrorCode::kInvalid,
                 path + " is no WARC or ARC file, and no line of it is one of a crawl.log"};
  }
  return ReadCrawlLog(fs, path);
}

}  // namespace stele::dedup
