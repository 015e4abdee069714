#include "formats/cdx/indexer.h"

#include <fmt/format.h>

#include "formats/record/block_stream.h"
#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::cdx {
namespace {

using record::Record;
using record::RecordType;

// As index files have it: without the label where it is sha1.
std::string DigestText(std::string_view labelled) {
  if (StartsWithIgnoreCase(labelled, "sha1:")) labelled.remove_prefix(5);
  return std::string(labelled);
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
  return options_.all_records || IsCapture(record);
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
      Result<std::optional<CaptureRequest>> request = ReadRequest(record);
      if (!request) return request.error();
      request_ = *std::move(request);
      if (request_ && waiting_ && waiting_->url == request_->uri) {
        waiting_->key = KeyOf(*request_);
        request_.reset();
      }
      continue;
    }
    if (!IsIndexed(record)) continue;
    Result<std::optional<Capture>> capture = ReadCapture(record);
    if (!capture) return capture.error();
    if (!*capture) continue;
    if (request_ && request_->uri == (*capture)->url) {
      (*capture)->key = KeyOf(*request_);
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

Result<std::optional<CaptureRequest>> Indexer::ReadRequest(const Record& record) {
  CaptureRequest request;
  request.uri = record.target_uri;
  payload_.Begin(record);
  record::BlockStream block(reader_, record);
  BodySink sink;
  for (;;) {
    Result<std::string_view> piece = block.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) return std::optional<CaptureRequest>();
    if (piece->empty()) break;
    payload_.Feed(*piece, &sink);
    // Most requests are these, and change no key.
    const http::RequestHead* head = payload_.request();
    if (head != nullptr && EqualsIgnoreCase(head->method, "GET")) {
      return std::optional<CaptureRequest>();
    }
  }
  payload_.Finish(&sink);
  const http::RequestHead* head = payload_.request();
  if (head == nullptr || EqualsIgnoreCase(head->method, "GET")) {
    return std::optional<CaptureRequest>();
  }
  request.method = head->method;
  request.content_type = head->headers.Find("Content-Type").value_or("");
  request.body = std::move(sink.body);
  return std::optional(std::move(request));
}

}  // namespace stele::cdx
