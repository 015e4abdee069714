#include "formats/cdx/indexer.h"

#include <fmt/format.h>

#include "formats/record/block_stream.h"
#include "formats/url/request_key.h"
#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::cdx {
namespace {

using record::Record;
using record::RecordType;

// More of a body than this never reaches a key.
constexpr std::size_t kRequestBodyBytesMax = std::size_t{1} << 20;

// "text/html; charset=utf-8" is "text/html".
std::string MimeOf(std::string_view content_type) {
  std::string_view mime = content_type.substr(0, content_type.find(';'));
  mime = TrimSpace(mime);
  mime = mime.substr(0, mime.find_first_of(" \t,"));
  return mime.empty() ? "unk" : std::string(mime);
}

// As index files have it: without the label where it is sha1.
std::string DigestText(std::string_view labelled) {
  if (StartsWithIgnoreCase(labelled, "sha1:")) labelled.remove_prefix(5);
  return std::string(labelled);
}

std::string KeyFor(std::string_view uri, std::string_view method, std::string_view content_type,
                   std::string_view body) {
  return url::SurtKey(url::RequestUrl(uri, method, content_type, body));
}

class HashingSink final : public record::PayloadSink {
 public:
  explicit HashingSink(Hasher& hasher) : hasher_(hasher) {}
  void OnPayload(std::string_view piece) override { hasher_.Update(piece); }

 private:
  Hasher& hasher_;
};

class BodySink final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    body += piece.substr(0, kRequestBodyBytesMax - body.size());
  }
  std::string body;
};

}  // namespace

Indexer::Indexer(record::RecordReader& reader, IndexerOptions options)
    : reader_(reader), options_(std::move(options)) {}

bool Indexer::IsIndexed(const Record& record) const {
  if (record.target_uri.empty()) return options_.all_records;
  switch (record.type) {
    case RecordType::kResponse:
    case RecordType::kRevisit:
    case RecordType::kResource:
    case RecordType::kConversion:
      return true;
    case RecordType::kMetadata:
      // What a crawler notes about a capture is none; "text/anvl" is how Heritrix once called it.
      return options_.all_records ||
             (!StartsWithIgnoreCase(record.content_type, "application/warc-fields") &&
              !StartsWithIgnoreCase(record.content_type, "text/anvl"));
    default:
      return options_.all_records;
  }
}

Result<std::optional<Capture>> Indexer::Next() {
  while (!ended_) {
    Result<const Record*> next = reader_.Next();
    if (!next) return next.error();
    if (*next == nullptr) {
      ended_ = true;
      break;
    }
    const Record& record = **next;
    if (record.type == RecordType::kRequest && !options_.all_records) {
      Result<std::optional<Request>> request = ReadRequest(record);
      if (!request) return request.error();
      request_ = *std::move(request);
      if (request_ && waiting_ && waiting_->url == request_->uri) {
        waiting_->key =
            KeyFor(waiting_->url, request_->method, request_->content_type, request_->body);
        request_.reset();
      }
      continue;
    }
    if (!IsIndexed(record)) continue;
    Result<std::optional<Capture>> capture = ReadCapture(record);
    if (!capture) return capture.error();
    if (!*capture) continue;
    if (request_ && request_->uri == (*capture)->url) {
      (*capture)->key =
          KeyFor(request_->uri, request_->method, request_->content_type, request_->body);
    }
    request_.reset();
    waiting_.swap(*capture);
    if (*capture) return *std::move(capture);
  }
  return std::exchange(waiting_, std::nullopt);
}

Result<std::optional<Capture>> Indexer::ReadCapture(const Record& record) {
  Capture capture;
  capture.url = record.target_uri;
  capture.key = record.target_uri.empty() ? "-" : url::SurtKey(record.target_uri);
  if (record.date) capture.timestamp = FormatDigits14(*record.date);
  capture.filename = options_.filename;
  const std::optional<std::string_view> digest = record.fields.Find("WARC-Payload-Digest");
  if (digest) capture.digest = DigestText(*digest);

  payload_.Begin(record);
  record::BlockStream block(reader_, record);
  HashingSink hashing(hasher_);
  record::PayloadSink* sink = digest ? nullptr : &hashing;
  bool filled = false;
  for (;;) {
    Result<std::string_view> piece = block.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) {
      static_cast<void>(hasher_.Finish());
      return std::optional<Capture>();
    }
    if (piece->empty()) break;
    payload_.Feed(*piece, sink);
    if (!filled && payload_.head_is_known()) {
      FillFromBlock(record, capture);
      filled = true;
      if (digest) break;  // the rest is passed over
    }
  }
  payload_.Finish(sink);
  if (!filled) FillFromBlock(record, capture);
  if (!digest) capture.digest = hasher_.Finish().Text();
  Result<record::Extent> extent = reader_.Finish();
  if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
  if (!extent) return std::optional<Capture>();
  capture.offset = fmt::to_string(extent->offset);
  capture.length = fmt::to_string(extent->length - extent->separator);
  return std::optional(std::move(capture));
}

void Indexer::FillFromBlock(const Record& record, Capture& capture) {
  if (record.type == RecordType::kRevisit) {
    capture.mime = "warc/revisit";
    return;
  }
  if (const http::ResponseHead* head = payload_.response()) {
    if (head->status > 0) capture.status = fmt::to_string(head->status);
    capture.mime = MimeOf(head->headers.Find("Content-Type").value_or(""));
    return;
  }
  const bool http = record::BlockKindOf(record) != record::BlockKind::kOther;
  capture.mime = http ? "unk" : MimeOf(record.content_type);
}

Result<std::optional<Indexer::Request>> Indexer::ReadRequest(const Record& record) {
  Request request;
  request.uri = record.target_uri;
  payload_.Begin(record);
  record::BlockStream block(reader_, record);
  BodySink sink;
  bool known = false;
  for (;;) {
    Result<std::string_view> piece = block.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) return std::optional<Request>();
    if (piece->empty()) break;
    payload_.Feed(*piece, &sink);
    if (!known && payload_.request() != nullptr) {
      request.method = payload_.request()->method;
      request.content_type = payload_.request()->headers.Find("Content-Type").value_or("");
      known = true;
      // Most requests are these, and change no key.
      if (EqualsIgnoreCase(request.method, "GET")) return std::optional<Request>();
    }
  }
  payload_.Finish(&sink);
  request.body = std::move(sink.body);
  if (!known) return std::optional<Request>();
  return std::optional(std::move(request));
}

}  // namespace stele::cdx
