#include "archive/capture_records.h"

#include "archive/warcinfo_text.h"
#include "formats/warc/revisit.h"
#include "util/check.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

constexpr std::string_view kTypeUnknown = "unk";

std::string Sha1Text(const catalog::Sha1Bytes& sha1) {
  return Digest(DigestAlgorithm::kSha1, {sha1.data(), sha1.size()}).Labelled();
}

// Old tools know seconds only; others get their milliseconds.
std::string DateText(Timestamp time) {
  return time.milliseconds % 1000 == 0 ? FormatIso(time) : FormatIsoMillis(time);
}

warc::FieldList FieldsOf(std::string_view type, const std::string& id,
                         const CrawledCapture& capture) {
  warc::FieldList fields;
  fields.Add("WARC-Type", type);
  fields.Add("WARC-Record-ID", id);
  fields.Add("WARC-Date", DateText(capture.time));
  fields.Add("WARC-Target-URI", capture.url);
  if (!capture.ip_address.empty()) fields.Add("WARC-IP-Address", capture.ip_address);
  return fields;
}

Status WriteMessage(const warc::FieldList& fields, const WireMessage& message, std::uint64_t length,
                    warc::WarcWriter& writer) {
  if (const Status begun = writer.Begin(fields, length); !begun) return begun;
  const Status copied =
      message.Read(length, [&](std::string_view piece) { return writer.Append(piece); });
  if (!copied) return copied;
  const Result<record::Extent> extent = writer.End();
  return extent ? Status() : extent.error();
}

void AddTransport(const CrawledCapture& capture, warc::FieldList& fields) {
  for (const std::string& protocol : capture.protocols) fields.Add("WARC-Protocol", protocol);
  if (!capture.cipher_suite.empty()) fields.Add("WARC-Cipher-Suite", capture.cipher_suite);
}

Status WriteResponse(const CrawledCapture& capture, const ResponseFacts& facts,
                     const std::string& id, warc::WarcWriter& writer) {
  warc::FieldList fields = FieldsOf("response", id, capture);
  AddTransport(capture, fields);
  if (capture.truncated != warc::Truncation::kNone) {
    fields.Add("WARC-Truncated", warc::TruncationName(capture.truncated));
  }
  fields.Add("Content-Type", "application/http; msgtype=response");
  fields.Add("WARC-Payload-Digest", Sha1Text(facts.sha1));
  fields.Add("WARC-Block-Digest", Sha1Text(facts.block_sha1));
  return WriteMessage(fields, capture.response, capture.response.size(), writer);
}

Status WriteRevisit(const CrawledCapture& capture, const ResponseFacts& facts,
                    const std::string& id, warc::WarcWriter& writer) {
  const RevisitOriginal& original = *capture.revisit;
  warc::FieldList fields = FieldsOf("revisit", id, capture);
  AddTransport(capture, fields);
  const std::string date = DateText(original.time);
  warc::AddRevisitFields(original.profile, {original.url, date, original.record_id}, fields);
  if (original.record_id.empty()) fields.Remove("WARC-Refers-To");
  // Replay tools show what a revisit's own head says, and nobody wants to see a 304: it is left
  // out, so that they show the original's.
  constexpr std::uint32_t kNotModified = 304;
  const std::uint64_t length = facts.status == kNotModified ? 0 : facts.head_length;
  if (length > 0 && length < capture.response.size()) fields.Add("WARC-Truncated", "length");
  if (length > 0) {
    fields.Add("Content-Type", "application/http; msgtype=response");
  } else if (facts.type != kTypeUnknown) {
    fields.Add("WARC-Identified-Payload-Type", facts.type);
  }
  const bool was_fetched = original.profile == warc::RevisitProfile::kIdenticalPayload;
  if (was_fetched || original.sha1) {
    fields.Add("WARC-Payload-Digest", Sha1Text(was_fetched ? facts.sha1 : *original.sha1));
  }
  Hasher hasher(DigestAlgorithm::kSha1);
  const Status hashed = capture.response.Read(length, [&](std::string_view piece) -> Status {
    hasher.Update(piece);
    return {};
  });
  if (!hashed) return hashed;
  fields.Add("WARC-Block-Digest", hasher.Finish().Labelled());
  return WriteMessage(fields, capture.response, length, writer);
}

Status WriteRequest(const CrawledCapture& capture, const CaptureRecordIds& ids,
                    warc::WarcWriter& writer) {
  warc::FieldList fields = FieldsOf("request", ids.request, capture);
  fields.Add("WARC-Concurrent-To", ids.capture);
  fields.Add("Content-Type", "application/http; msgtype=request");
  Hasher hasher(DigestAlgorithm::kSha1);
  const WireMessage& request = capture.request;
  const Status hashed = request.Read(request.size(), [&](std::string_view piece) -> Status {
    hasher.Update(piece);
    return {};
  });
  if (!hashed) return hashed;
  fields.Add("WARC-Block-Digest", hasher.Finish().Labelled());
  return WriteMessage(fields, request, request.size(), writer);
}

Status WriteMetadata(const CrawledCapture& capture, const CaptureRecordIds& ids,
                     warc::WarcWriter& writer) {
  std::string block;
  for (const auto& [name, value] : capture.metadata) block += WarcinfoLine(name, value);
  warc::FieldList fields = FieldsOf("metadata", ids.metadata, capture);
  fields.Remove("WARC-IP-Address");
  fields.Add("WARC-Concurrent-To", ids.capture);
  fields.Add("Content-Type", "application/warc-fields");
  fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha1, block).Labelled());
  const Result<record::Extent> extent = writer.Write(fields, block);
  return extent ? Status() : extent.error();
}

}  // namespace

Status WriteCaptureRecords(const CrawledCapture& capture, const ResponseFacts& facts,
                           const CaptureRecordIds& ids, warc::WarcWriter& writer) {
  const Status written = capture.revisit ? WriteRevisit(capture, facts, ids.capture, writer)
                                         : WriteResponse(capture, facts, ids.capture, writer);
  if (!written) return written;
  if (!capture.request.empty()) {
    if (const Status done = WriteRequest(capture, ids, writer); !done) return done;
  }
  return capture.metadata.empty() ? Status() : WriteMetadata(capture, ids, writer);
}

}  // namespace stele::archive
