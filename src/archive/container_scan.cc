// A capture's row depends on what stands beside it: a request that is no GET changes its key, and
// what a crawler noted says whether it is a page. So the last capture waits until the next one.
#include "archive/container_scan.h"

#include <fmt/format.h>

#include <optional>

#include "archive/page_text.h"
#include "archive/wacz_file.h"
#include "formats/cdx/capture_rules.h"
#include "formats/http/media_type.h"
#include "formats/record/block_stream.h"
#include "formats/record/payload.h"
#include "formats/url/surt.h"
#include "formats/warc/segments.h"
#include "formats/warc/truncation.h"
#include "formats/zip/zip_reader.h"
#include "util/ascii.h"
#include "util/checksum.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using record::Record;
using record::RecordType;

// What a crawler notes about a capture is short.
constexpr std::size_t kNoteBytesMax = 64 << 10;

template <std::size_t kSize>
std::array<char, kSize> BytesOf(const Digest& digest) {
  std::array<char, kSize> bytes;
  Check(digest.bytes().size() == kSize);
  std::copy(digest.bytes().begin(), digest.bytes().end(), bytes.begin());
  return bytes;
}

// Computes what a row says about a payload that streams by.
class PayloadExaminer final : public record::PayloadSink {
 public:
  explicit PayloadExaminer(const std::optional<catalog::Sha256Bytes>& known) : known_(known) {}

  void Begin(const record::PayloadStream& stream, const Record& record, bool wants_sha1) {
    stream_ = &stream;
    record_type_ = record.content_type;
    http_ = record::BlockKindOf(record) != record::BlockKind::kOther;
    wants_sha1_ = wants_sha1;
    collects_.reset();
    collected_.clear();
    length_ = 0;
  }

  void OnPayload(std::string_view piece) override {
    length_ += piece.size();
    if (!known_) sha256_.Update(piece);
    if (wants_sha1_) sha1_.Update(piece);
    if (!collects_) collects_ = HasPageText(http::ParseMediaType(ContentType()).type) || IsCoded();
    if (!*collects_) return;
    if (collected_.size() + piece.size() <= kPageTextBytesMax) {
      collected_ += piece;
    } else {
      collects_ = false;
    }
  }

  // Also where the payload turned out to be damaged: the digests start anew.
  void Finish(catalog::Capture& row) {
    row.length = length_;
    row.sha256 = known_ ? *known_ : BytesOf<32>(sha256_.Finish());
    if (wants_sha1_) row.sha1 = BytesOf<20>(sha1_.Finish());
    if (collects_.value_or(false)) {
      const http::ResponseHead* head = stream_->response();
      row.text_digest = TextDigestOf(collected_, ContentType(), head ? &head->headers : nullptr);
    }
  }

  // The header's value; empty where there is none.
  std::string_view ContentType() const {
    if (const http::ResponseHead* head = stream_->response()) {
      return head->headers.Find("Content-Type").value_or("");
    }
    return http_ ? "" : record_type_;
  }

 private:
  bool IsCoded() const {
    const http::ResponseHead* head = stream_->response();
    return head != nullptr && head->headers.Find("Content-Encoding");
  }

  const std::optional<catalog::Sha256Bytes>& known_;
  const record::PayloadStream* stream_ = nullptr;
  std::string_view record_type_;
  bool http_ = false;
  bool wants_sha1_ = false;
  std::optional<bool> collects_;
  std::string collected_;
  std::uint64_t length_ = 0;
  Hasher sha256_{DigestAlgorithm::kSha256};
  Hasher sha1_{DigestAlgorithm::kSha1};
};

class TextSink final : public record::PayloadSink {
 public:
  explicit TextSink(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  void OnPayload(std::string_view piece) override {
    text += piece.substr(0, bytes_max_ - text.size());
  }
  std::string text;

 private:
  const std::size_t bytes_max_;
};

// Nothing where nothing is said.
std::optional<bool> IsPageByHops(std::string_view notes) {
  const std::size_t at = notes.find("hopsFromSeed:");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view hops = notes.substr(at + 13);
  hops = TrimSpace(hops.substr(0, hops.find_first_of("\r\n")));
  while (hops.ends_with('R')) hops.remove_suffix(1);  // redirects lead where the link led
  return hops.empty() || hops.back() == 'L' || hops.back() == 'S' || hops.back() == 'M';
}

class Scan {
 public:
  Scan(archive_file::ArchiveFile& file, const ScanOptions& options, ContainerRowsSink& rows,
       ContainerSummary& summary)
      : reader_(file.reader()),
        options_(options),
        rows_(rows),
        summary_(summary),
        examiner_(options.payload_sha256) {}

  Status Run();

 private:
  // A capture with the texts that its row points to.
  struct Waiting {
    ContainerCapture capture;
    std::string url;
    std::string type;
    std::string key;
    std::optional<bool> is_page;  // by what stands beside it
  };

  // Each reads the record to its end. Errors: kIo; false: it is damaged, and named in the losses.
  Result<bool> ReadCapture(const Record& record);
  Result<bool> ReadRequest(const Record& record);
  Result<bool> ReadNotes(const Record& record);
  Result<bool> ReadContinuation(const Record& record);
  Result<bool> ReadBlock(const Record& record, record::PayloadSink* sink);
  Result<std::optional<record::Extent>> Finish();
  void FillRow(const Record& record, Waiting& waiting);
  Status AddCompanion(RecordType type, std::string_view uri, std::uint64_t about,
                      const record::Extent& extent);
  Status Flush();

  record::RecordReader& reader_;
  const ScanOptions& options_;
  ContainerRowsSink& rows_;
  ContainerSummary& summary_;
  record::PayloadStream payload_;
  PayloadExaminer examiner_;
  std::optional<Waiting> waiting_;
  std::optional<cdx::CaptureRequest> request_;  // its response may follow
  std::optional<bool> request_is_for_page_;     // of request_uri_
  std::string request_uri_;
};

Status Scan::Run() {
  for (;;) {
    Result<const Record*> next = reader_.Next();
    if (!next) return next.error();
    if (*next == nullptr) break;
    const Record& record = **next;
    ++summary_.records;
    Result<bool> read = true;
    if (cdx::IsCapture(record)) {
      read = ReadCapture(record);
    } else if (record.type == RecordType::kRequest) {
      read = ReadRequest(record);
    } else if (record.type == RecordType::kMetadata) {
      read = ReadNotes(record);
    } else if (record.type == RecordType::kContinuation) {
      read = ReadContinuation(record);
    }
    if (!read) return read.error();
    if (options_.progress) options_.progress(options_.base + reader_.position());
  }
  if (const Status flushed = Flush(); !flushed) return flushed;
  for (record::Loss loss : reader_.losses()) {
    if (summary_.losses.size() == kLossesMax) break;
    loss.begin += options_.base;
    loss.end += options_.base;
    summary_.losses.push_back(std::move(loss));
  }
  return {};
}

Result<bool> Scan::ReadCapture(const Record& record) {
  if (const Status flushed = Flush(); !flushed) return flushed.error();
  Waiting waiting;
  waiting.url = record.target_uri;
  waiting.capture.record_id = RecordIdHash(record.record_id());
  catalog::Capture& row = waiting.capture.row;
  if (record.type == RecordType::kRevisit) {
    row.flags |= catalog::kRevisit;  // which says itself that its payload is elsewhere
  } else if (warc::TruncationOf(record) != warc::Truncation::kNone ||
             warc::BeginsSegments(record)) {
    row.flags |= catalog::kTruncated;
  }
  const std::optional<Timestamp> date = record.date;
  if (date) row.time = *date;
  const std::optional<Digest> claim =
      Digest::Parse(record.fields.Find("WARC-Payload-Digest").value_or(""));
  if (claim && claim->algorithm() == DigestAlgorithm::kSha1) row.sha1 = BytesOf<20>(*claim);
  if (claim && claim->algorithm() == DigestAlgorithm::kSha256) row.sha256 = BytesOf<32>(*claim);
  const bool has_payload = record.type != RecordType::kRevisit;

  payload_.Begin(record);
  examiner_.Begin(payload_, record, !row.sha1 && !row.sha256);
  Result<bool> read = ReadBlock(record, has_payload ? &examiner_ : nullptr);
  if (!read) return read.error();
  FillRow(record, waiting);
  if (has_payload) examiner_.Finish(row);
  if (!*read) return false;
  Result<std::optional<record::Extent>> extent = Finish();
  if (!extent) return extent.error();
  if (!*extent) return false;
  row.place.offset = options_.base + (*extent)->offset;
  row.place.length = (*extent)->length - (*extent)->separator;

  if (request_ && request_->uri == waiting.url) waiting.key = cdx::KeyOf(*request_);
  if (request_is_for_page_ && request_uri_ == waiting.url) waiting.is_page = request_is_for_page_;
  request_.reset();
  request_is_for_page_.reset();
  if (!date) {
    ++summary_.unlisted;
    return true;
  }
  summary_.payload_bytes += row.length;
  waiting_ = std::move(waiting);
  return true;
}

void Scan::FillRow(const Record& record, Waiting& waiting) {
  catalog::Capture& row = waiting.capture.row;
  if (const http::ResponseHead* head = payload_.response()) {
    if (head->status > 0) row.status = static_cast<std::uint32_t>(head->status);
    if (row.status >= 300 && row.status < 400 && head->headers.Find("Location")) {
      row.flags |= catalog::kRedirect;
    }
    waiting.type = cdx::MimeOf(head->headers.Find("Content-Type").value_or(""));
    return;
  }
  const bool http = record::BlockKindOf(record) != record::BlockKind::kOther;
  waiting.type = http ? "unk" : cdx::MimeOf(record.content_type);
  // A revisit may have no head, and say what its payload is nevertheless.
  const auto identified = record.fields.Find("WARC-Identified-Payload-Type");
  if (record.type == RecordType::kRevisit && identified) waiting.type = cdx::MimeOf(*identified);
}

Result<bool> Scan::ReadRequest(const Record& record) {
  cdx::CaptureRequest request;
  request.uri = record.target_uri;
  const std::uint64_t about = NamedCapture(record);
  payload_.Begin(record);
  TextSink body(cdx::kRequestBodyBytesMax);
  Result<bool> read = ReadBlock(record, &body);
  if (!read) return read.error();
  if (!*read) return false;
  request.body = std::move(body.text);
  std::optional<bool> is_for_page;
  bool changes_key = false;
  if (const http::RequestHead* head = payload_.request()) {
    request.method = head->method;
    request.content_type = head->headers.Find("Content-Type").value_or("");
    changes_key = !EqualsIgnoreCase(request.method, "GET");
    if (const auto destination = head->headers.Find("Sec-Fetch-Dest")) {
      is_for_page = *destination == "document";
    }
  }
  Result<std::optional<record::Extent>> extent = Finish();
  if (!extent) return extent.error();
  if (!*extent) return false;
  const Status added = AddCompanion(RecordType::kRequest, request.uri, about, **extent);
  if (!added) return added.error();
  if (waiting_ && waiting_->url == request.uri) {
    if (changes_key) waiting_->key = cdx::KeyOf(request);
    if (is_for_page) waiting_->is_page = is_for_page;
    return true;
  }
  request_uri_ = request.uri;
  request_is_for_page_ = is_for_page;
  request_.reset();
  if (changes_key) request_ = std::move(request);
  return true;
}

Result<bool> Scan::ReadNotes(const Record& record) {
  const std::string uri(record.target_uri);
  const std::uint64_t about = NamedCapture(record);
  payload_.Begin(record);
  TextSink notes(kNoteBytesMax);
  Result<bool> read = ReadBlock(record, &notes);
  if (!read) return read.error();
  if (!*read) return false;
  Result<std::optional<record::Extent>> extent = Finish();
  if (!extent) return extent.error();
  if (!*extent) return false;
  if (waiting_ && waiting_->url == uri) {
    if (const std::optional<bool> is_page = IsPageByHops(notes.text)) waiting_->is_page = is_page;
  }
  const Status added = AddCompanion(RecordType::kMetadata, uri, about, **extent);
  if (!added) return added.error();
  return true;
}

Result<bool> Scan::ReadContinuation(const Record& record) {
  const std::string uri(record.target_uri);
  const std::uint64_t origin = NamedCapture(record);
  payload_.Begin(record);
  Result<bool> read = ReadBlock(record, nullptr);
  if (!read) return read.error();
  if (!*read) return false;
  Result<std::optional<record::Extent>> extent = Finish();
  if (!extent) return extent.error();
  if (!*extent) return false;
  const Status added = AddCompanion(RecordType::kContinuation, uri, origin, **extent);
  if (!added) return added.error();
  return true;
}

Result<bool> Scan::ReadBlock(const Record& record, record::PayloadSink* sink) {
  record::BlockStream block(reader_, record);
  for (;;) {
    Result<std::string_view> piece = block.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) return false;
    if (piece->empty()) break;
    payload_.Feed(*piece, sink);
  }
  payload_.Finish(sink);
  return true;
}

Result<std::optional<record::Extent>> Scan::Finish() {
  Result<record::Extent> extent = reader_.Finish();
  if (extent) return std::optional(*extent);
  if (extent.error().code != ErrorCode::kCorrupt) return extent.error();
  return std::optional<record::Extent>();
}

Status Scan::AddCompanion(RecordType type, std::string_view uri, std::uint64_t about,
                          const record::Extent& extent) {
  return rows_.Add(Companion{.type = type,
                             .offset = options_.base + extent.offset,
                             .length = extent.length - extent.separator,
                             .about = about,
                             .uri = ChecksumOf(uri)});
}

Status Scan::Flush() {
  if (!waiting_) return {};
  catalog::Capture& row = waiting_->capture.row;
  row.url = waiting_->url;
  row.type = waiting_->type;
  // Only where the row's URL does not say it.
  if (!waiting_->key.empty() && waiting_->key != url::SurtKey(waiting_->url)) {
    row.key = waiting_->key;
  }
  const bool is_html = EqualsIgnoreCase(row.type, "text/html") ||
                       EqualsIgnoreCase(row.type, "application/xhtml+xml");
  const bool is_there =
      row.status == 200 || (row.status == 0 && (row.flags & catalog::kRevisit) != 0);
  const bool is_page = options_.is_page ? options_.is_page(row.url, row.time)
                                        : is_there && is_html && waiting_->is_page.value_or(true);
  if (is_page) row.flags |= catalog::kPage;
  Status added;
  if (catalog::CheckCapture(row)) {
    const std::uint32_t batch = catalog::BatchOf(row.time);
    row.id = {batch, summary_.batches[batch]++};
    added = rows_.Add(waiting_->capture);
  } else {
    ++summary_.unlisted;
  }
  waiting_.reset();
  return added;
}

// Ends where what is read is damaged.
class UndamagedPart final : public io::Source {
 public:
  UndamagedPart(std::unique_ptr<io::Source> source, std::optional<Error>& damage)
      : source_(std::move(source)), damage_(damage) {}

  Result<std::size_t> Read(std::span<char> out) override {
    if (damage_) return std::size_t{0};
    Result<std::size_t> read = source_->Read(out);
    if (read || read.error().code != ErrorCode::kCorrupt) return read;
    damage_ = read.error();
    return std::size_t{0};
  }

 private:
  const std::unique_ptr<io::Source> source_;
  std::optional<Error>& damage_;
};

Status ScanWacz(const WaczFile& wacz, const ScanOptions& options, ContainerRowsSink& rows,
                ContainerSummary& summary) {
  Result<WaczPages> pages = wacz.ReadPages();
  if (!pages) return pages.error();
  ScanOptions scan = options;
  if (!pages->empty()) {
    scan.is_page = [&](std::string_view url, Timestamp time) { return pages->Has(url, time); };
  }
  const auto lose = [&](const WaczFile::Part& part, std::string_view why) {
    if (summary.losses.size() == kLossesMax) return;
    summary.losses.push_back({part.begin, part.end, fmt::format("{}: {}", part.name, why)});
  };
  for (const WaczFile::Part& part : wacz.parts()) {
    if (options.left_out.contains(part.name)) continue;
    if (!part.is_readable) {
      lose(part, "is encrypted, or packed in a way that we cannot read; unpack it and import it");
      continue;
    }
    std::optional<Error> damage;
    Result<std::unique_ptr<io::Source>> source = wacz.ReadPart(part);
    if (!source) return source.error();
    if (part.is_packed) {
      source =
          std::unique_ptr<io::Source>(std::make_unique<UndamagedPart>(*std::move(source), damage));
    }
    Result<std::unique_ptr<archive_file::ArchiveFile>> file =
        archive_file::ArchiveFile::Open(*std::move(source), part.name);
    if (!file && file.error().code == ErrorCode::kIo) return file.error();
    if (!file) {
      lose(part, file.error().text);
      continue;
    }
    scan.base = part.begin;
    if (const Status scanned = ScanContainer(**file, scan, rows, summary); !scanned) return scanned;
    if (damage) lose(part, damage->text);
  }
  return {};
}

bool IsZip(io::FileSystem& fs, const std::string& path) {
  const Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  std::string begin(4, '\0');
  return file && (*file)->ReadAt(0, begin) && zip::LooksLikeZip(begin);
}

}  // namespace

Status ScanContainer(archive_file::ArchiveFile& file, const ScanOptions& options,
                     ContainerRowsSink& rows, ContainerSummary& summary) {
  return Scan(file, options, rows, summary).Run();
}

Result<ContainerSummary> WriteContainerRows(io::FileSystem& fs, const std::string& path,
                                            const ScanOptions& options,
                                            const std::string& rows_path) {
  Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, path);
  if (!wacz) return wacz.error();
  std::unique_ptr<archive_file::ArchiveFile> file;
  if (*wacz == nullptr) {
    Result<std::unique_ptr<archive_file::ArchiveFile>> opened =
        archive_file::ArchiveFile::Open(fs, path);
    if (!opened && opened.error().code == ErrorCode::kInvalid && IsZip(fs, path)) {
      return Error{ErrorCode::kInvalid, path + " is a ZIP file without WARC files in archive/"};
    }
    if (!opened) return opened.error();
    file = *std::move(opened);
  }
  Result<std::unique_ptr<ContainerRowsWriter>> rows = ContainerRowsWriter::Create(fs, rows_path);
  if (!rows) return rows.error();
  ContainerSummary summary;
  const Status scanned = file == nullptr ? ScanWacz(**wacz, options, **rows, summary)
                                         : ScanContainer(*file, options, **rows, summary);
  if (!scanned) return scanned.error();
  if (const Status good = options.check ? options.check(summary) : Status(); !good) {
    return good.error();
  }
  if (const Status finished = (*rows)->Finish(summary); !finished) return finished.error();
  return summary;
}

}  // namespace stele::archive
