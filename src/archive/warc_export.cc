// Everything is read twice: first to know that it is whole, how long it is and which digests it
// has, which stand in a record's head, and then to write it.
#include "archive/warc_export.h"

#include <fmt/format.h>

#include <functional>

#include "formats/http/body.h"
#include "formats/record/payload.h"
#include "formats/warc/old_fields.h"
#include "formats/warc/revisit.h"
#include "util/ascii.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using record::Record;

// The HTTP head of a revisit has no more.
constexpr std::size_t kRevisitBytesMax = std::size_t{1} << 20;

using Take = std::function<Status(std::string_view)>;

// What reading a block to its end has shown.
struct BlockFacts {
  std::uint64_t length = 0;
  std::uint64_t head_length = 0;  // of HTTP
  bool is_chunked = false;
  std::string digest;          // of the block, labelled
  std::string payload_digest;  // likewise
  std::string payload_sha256;  // bytes
};

class PayloadHashers final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    sha1_.Update(piece);
    sha256_.Update(piece);
  }
  void Finish(BlockFacts& facts) {
    facts.payload_digest = sha1_.Finish().Labelled();
    facts.payload_sha256 = sha256_.Finish().bytes();
  }

 private:
  Hasher sha1_{DigestAlgorithm::kSha1};
  Hasher sha256_{DigestAlgorithm::kSha256};
};

Result<BlockFacts> Examine(StoredRecord& stored) {
  BlockFacts facts;
  record::PayloadStream payload;
  payload.Begin(stored.record());
  PayloadHashers hashers;
  Hasher block(DigestAlgorithm::kSha1);
  for (;;) {
    Result<std::string_view> piece = stored.Read();
    if (!piece) return piece.error();
    if (piece->empty()) break;
    facts.length += piece->size();
    block.Update(*piece);
    payload.Feed(*piece, &hashers);
  }
  payload.Finish(&hashers);
  hashers.Finish(facts);
  facts.digest = block.Finish().Labelled();
  facts.head_length = payload.head_length();
  if (const http::ResponseHead* head = payload.response()) {
    facts.is_chunked = http::PlanStoredBody(head->headers).framing == http::BodyFraming::kChunked;
  }
  return facts;
}

// Gives the block from `from` on to `take`.
Status ForEachPiece(StoredRecord& stored, std::uint64_t from, const Take& take) {
  for (;;) {
    Result<std::string_view> piece = stored.Read();
    if (!piece) return piece.error();
    if (piece->empty()) return {};
    const std::uint64_t passed = std::min<std::uint64_t>(from, piece->size());
    from -= passed;
    const std::string_view rest = piece->substr(passed);
    if (rest.empty()) continue;
    if (const Status taken = take(rest); !taken) return taken;
  }
}

class TakingSink final : public record::PayloadSink {
 public:
  explicit TakingSink(const Take& take) : take_(take) {}
  void OnPayload(std::string_view piece) override {
    if (status_) status_ = take_(piece);
  }
  const Status& status() const { return status_; }

 private:
  const Take& take_;
  Status status_;
};

// Gives the payload to `take`, without transfer coding.
Status ForEachPayloadPiece(StoredRecord& stored, const Take& take) {
  record::PayloadStream payload;
  payload.Begin(stored.record());
  TakingSink sink(take);
  const Status read = ForEachPiece(stored, 0, [&](std::string_view piece) {
    payload.Feed(piece, &sink);
    return sink.status();
  });
  if (!read) return read;
  payload.Finish(&sink);
  return sink.status();
}

// The head of a message without what says how its body was transferred.
std::string WithoutFraming(const http::ResponseHead& head) {
  std::string out(head.raw.substr(0, head.raw.find('\n') + 1));
  for (const http::Field& field : head.headers.fields()) {
    if (EqualsIgnoreCase(field.name, "Transfer-Encoding")) continue;
    out += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  return out + "\r\n";
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string DerivedRecordId(std::string_view sha256, std::uint64_t offset) {
  // The name space is the project's own: the UUID of version 5 of "stele" among DNS names.
  constexpr std::string_view kNamespace =
      "\x8e\x1f\x4b\x0c\x52\x6d\x5a\x37\x9c\x21\x5e\x04\xd1\x7b\x66\x90";
  const std::string name = fmt::format("{}{}:{}", kNamespace, sha256, offset);
  std::string bytes(DigestOf(DigestAlgorithm::kSha1, name).bytes().substr(0, 16));
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x50);
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return "urn:uuid:" + text;
}

WarcExport::WarcExport(const ArchiveView& view, io::Random& random, const ExportOptions& options)
    : view_(view),
      random_(random),
      keep_revisits_(options.keep_revisits),
      resolver_(view),
      companions_(view) {}

Result<std::unique_ptr<WarcExport>> WarcExport::Begin(const ArchiveView& view,
                                                      const io::Clock& clock, io::Random& random,
                                                      io::Sink& sink,
                                                      const ExportOptions& options) {
  std::unique_ptr<WarcExport> exported(new WarcExport(view, random, options));
  warc::WriterOptions writing;
  writing.compression = options.compression;
  Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(sink, writing);
  if (!writer) return writer.error();
  exported->writer_ = std::move(*writer);
  const Status begun = exported->WriteWarcinfo(clock, options.filename);
  if (!begun) return begun.error();
  return exported;
}

std::string WarcExport::NewId() { return fmt::format("<urn:uuid:{}>", io::NewUuid(random_)); }

std::string WarcExport::DerivedId(const catalog::CapturePlace& place) const {
  const Container* container = view_.holdings().Find(place.container);
  return DerivedRecordId(container == nullptr ? "" : container->sha256, place.offset);
}

Status WarcExport::WriteWarcinfo(const io::Clock& clock, const std::string& filename) {
  warcinfo_id_ = NewId();
  std::string block =
      "software: Stele\r\nformat: WARC File Format 1.1\r\nconformsTo: "
      "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n";
  const ArchiveConfig& config = view_.layout().config();
  for (const auto& [name, value] :
       {std::pair("isPartOf", config.title), std::pair("description", config.description),
        std::pair("operator", config.creator), std::pair("rights", config.rights),
        std::pair("http-header-from", config.contact), std::pair("language", config.language)}) {
    if (!value.empty()) block += fmt::format("{}: {}\r\n", name, warc::FieldText(value));
  }
  warc::FieldList fields;
  fields.Add("WARC-Type", "warcinfo");
  fields.Add("WARC-Record-ID", warcinfo_id_);
  fields.Add("WARC-Date", FormatIso(clock.Now()));
  if (!filename.empty()) fields.Add("WARC-Filename", warc::FieldText(filename));
  fields.Add("Content-Type", "application/warc-fields");
  fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha1, block).Labelled());
  const Result<record::Extent> written = writer_->Write(fields, block);
  return written ? Status() : written.error();
}

Result<ExportedCapture> WarcExport::Add(const catalog::HeldCapture& capture) {
  ExportedCapture exported;
  exported.is_revisit = (capture.row.flags & catalog::kRevisit) != 0;
  std::string old_id;
  std::string new_id;
  bool written = false;
  if (exported.is_revisit && !keep_revisits_) {
    Result<catalog::HeldCapture> original = resolver_.Resolve(capture);
    if (!original && original.error().code != ErrorCode::kNotFound) return original.error();
    if (original) {
      Result<record::Extent> extent = WriteWhole(capture, *original, old_id, new_id);
      if (!extent) return extent.error();
      exported.extent = *extent;
      exported.is_revisit = false;
      written = true;
    } else {
      ++unresolved_;
    }
  }
  if (!written) {
    const auto sha256 = exported.is_revisit ? std::nullopt : capture.row.sha256;
    Result<record::Extent> extent = CopyRecord(
        capture.row.place, [&] { return view_.Open(capture.row); }, sha256, "", "");
    if (!extent) return extent.error();
    exported.extent = *extent;
  }
  Result<std::vector<Companion>> companions = companions_.Of(capture.row.place);
  if (!companions) return companions.error();
  for (const Companion& companion : *companions) {
    const catalog::CapturePlace place{capture.row.place.container, companion.offset,
                                      companion.length};
    Result<record::Extent> extent = CopyRecord(
        place, [&] { return view_.OpenAt(place); }, std::nullopt, old_id, new_id);
    if (!extent) return extent.error();
  }
  return exported;
}

Result<record::Extent> WarcExport::CopyRecord(const catalog::CapturePlace& place,
                                              const OpenRecord& open,
                                              const std::optional<catalog::Sha256Bytes>& sha256,
                                              std::string_view old_id, std::string_view new_id) {
  Result<std::unique_ptr<StoredRecord>> first = open();
  if (!first) return first.error();
  Result<BlockFacts> facts = Examine(**first);
  if (!facts) return facts.error();
  if (sha256 && facts->payload_sha256 != std::string_view(sha256->data(), sha256->size())) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("container {}, byte {}: the payload is not what it was when it came; "
                             "run stele verify",
                             place.container, place.offset)};
  }
  Result<std::unique_ptr<StoredRecord>> stored = open();
  if (!stored) return stored.error();
  const Record& record = (*stored)->record();
  if (record.format != record::Format::kWarc) {
    return CopyOld(**stored, place, facts->digest, facts->payload_digest, facts->length);
  }
  std::string head(record.head);
  if (!old_id.empty()) ReplaceAll(head, old_id, new_id);
  if (record.record_id().empty()) {
    const std::size_t second_line = head.find('\n') + 1;
    head.insert(second_line, fmt::format("WARC-Record-ID: <{}>\r\n", DerivedId(place)));
  }
  if (facts->length != record.content_length) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("container {}, byte {}: the record has {} bytes and says {}",
                             place.container, place.offset, facts->length, record.content_length)};
  }
  const Status begun = writer_->BeginCopy(head, facts->length, "\r\n\r\n");
  if (!begun) return begun.error();
  const Status copied =
      ForEachPiece(**stored, 0, [&](std::string_view piece) { return writer_->Append(piece); });
  if (!copied) return copied.error();
  return writer_->End();
}

Result<record::Extent> WarcExport::CopyOld(StoredRecord& stored, const catalog::CapturePlace& place,
                                           std::string_view block_digest,
                                           std::string_view payload_digest, std::uint64_t length) {
  const Record& record = stored.record();
  warc::FieldList fields;
  fields.Add("WARC-Type", record::RecordTypeName(record.type));
  fields.Add("WARC-Record-ID", fmt::format("<{}>", DerivedId(place)));
  fields.Add("WARC-Warcinfo-ID", warcinfo_id_);
  fields.Add("WARC-Date", FormatIso(record.date.value_or(Timestamp{})));
  warc::AddOldFields(record, fields);
  fields.Add("WARC-Block-Digest", block_digest);
  fields.Add("WARC-Payload-Digest", payload_digest);
  if (const Status begun = writer_->Begin(fields, length); !begun) return begun.error();
  const Status copied =
      ForEachPiece(stored, 0, [&](std::string_view piece) { return writer_->Append(piece); });
  if (!copied) return copied.error();
  return writer_->End();
}

Result<record::Extent> WarcExport::WriteWhole(const catalog::HeldCapture& revisit,
                                              const catalog::HeldCapture& original,
                                              std::string& old_id, std::string& new_id) {
  Result<std::unique_ptr<StoredRecord>> stored = view_.Open(revisit.row);
  if (!stored) return stored.error();
  std::string block;
  const Status read = ForEachPiece(**stored, 0, [&](std::string_view piece) -> Status {
    block += piece.substr(0, kRevisitBytesMax - block.size());
    return {};
  });
  if (!read) return read.error();
  Result<std::unique_ptr<StoredRecord>> first = view_.Open(original.row);
  if (!first) return first.error();
  Result<BlockFacts> facts = Examine(**first);
  if (!facts) return facts.error();

  // The revisit's own head, where it has one that speaks of this payload.
  const Record& record = (*stored)->record();
  const Result<http::ResponseHead> head = http::ParseResponseHead(block);
  const bool own_head = head && facts->head_length > 0 &&
                        warc::RevisitProfileOf(record) != warc::RevisitProfile::kServerNotModified;
  const bool is_chunked =
      own_head && http::PlanStoredBody(head->headers).framing == http::BodyFraming::kChunked;
  const bool as_stored = !own_head || is_chunked == facts->is_chunked;
  std::string begin;
  if (own_head) begin = as_stored ? std::string(head->raw) : WithoutFraming(*head);
  const std::uint64_t body_from = own_head ? facts->head_length : 0;
  const std::uint64_t length =
      begin.size() + (as_stored ? facts->length - body_from : original.row.length);
  const auto for_each = [&](const Take& take) -> Status {
    Result<std::unique_ptr<StoredRecord>> source = view_.Open(original.row);
    if (!source) return source.error();
    if (const Status taken = begin.empty() ? Status() : take(begin); !taken) return taken;
    return as_stored ? ForEachPiece(**source, body_from, take)
                     : ForEachPayloadPiece(**source, take);
  };
  Hasher hasher(DigestAlgorithm::kSha1);
  const Status hashed = for_each([&](std::string_view piece) -> Status {
    hasher.Update(piece);
    return {};
  });
  if (!hashed) return hashed.error();

  old_id = record.record_id();
  new_id = NewId();
  warc::FieldList fields;
  fields.Add("WARC-Type", record::RecordTypeName((*first)->record().type));
  fields.Add("WARC-Record-ID", new_id);
  fields.Add("WARC-Warcinfo-ID", warcinfo_id_);
  fields.Add("WARC-Date", record.date_text);
  fields.Add("WARC-Target-URI", record.target_uri);
  if (const auto ip = record.fields.Find("WARC-IP-Address")) fields.Add("WARC-IP-Address", *ip);
  fields.Add("Content-Type", warc::FieldText((*first)->record().content_type));
  fields.Add("WARC-Block-Digest", hasher.Finish().Labelled());
  fields.Add("WARC-Payload-Digest", facts->payload_digest);
  if (const Status begun = writer_->Begin(fields, length); !begun) return begun.error();
  const Status written = for_each([&](std::string_view piece) { return writer_->Append(piece); });
  if (!written) return written.error();
  return writer_->End();
}

}  // namespace stele::archive
