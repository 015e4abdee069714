#include "archive/warc_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "archive/capture_block.h"
#include "archive/export_error.h"
#include "archive/warcinfo_text.h"
#include "archive/whole_block.h"
#include "formats/warc/old_fields.h"
#include "util/ascii.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using record::Record;

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

// All fields of a record but those with these names.
void CopyFields(const Record& record, std::span<const std::string_view> but,
                warc::FieldList& fields) {
  for (const http::Field& field : record.fields.fields()) {
    const bool is_left_out = std::any_of(but.begin(), but.end(), [&](std::string_view name) {
      return EqualsIgnoreCase(field.name, name);
    });
    if (!is_left_out && !field.name.empty()) fields.Add(field.name, warc::FieldText(field.value));
  }
}

// The fields of a record whose segments were joined: those of the first, with digests of the whole.
warc::FieldList JoinedFields(const Record& first, const BlockFacts& whole) {
  constexpr std::array<std::string_view, 4> kOfSegments = {
      "Content-Length", "WARC-Segment-Number", "WARC-Segment-Total-Length", "WARC-Block-Digest"};
  warc::FieldList fields;
  CopyFields(first, kOfSegments, fields);
  fields.Set("WARC-Payload-Digest", whole.payload_digest);
  fields.Set("WARC-Block-Digest", whole.digest);
  return fields;
}

}  // namespace

std::string DerivedRecordId(std::string_view sha256, const record::Record& record) {
  // Records that share a member share its offset.
  return DerivedRecordId(sha256, record.at_member_start
                                     ? fmt::format("{}", record.offset)
                                     : fmt::format("{} {}", record.offset, record.head));
}

std::string DerivedRecordId(std::string_view sha256, std::string_view record) {
  // The name space is the project's own, 16 bytes that were chosen once: ids depend on them.
  constexpr std::string_view kNamespace =
      "\x8e\x1f\x4b\x0c\x52\x6d\x5a\x37\x9c\x21\x5e\x04\xd1\x7b\x66\x90";
  const std::string name = fmt::format("{}{}:{}", kNamespace, sha256, record);
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

std::string WarcExport::DerivedId(std::uint32_t number, const Record& record) const {
  const Container* container = view_.holdings().Find(number);
  return DerivedRecordId(container == nullptr ? "" : container->sha256, record);
}

Status WarcExport::WriteWarcinfo(const io::Clock& clock, const std::string& filename) {
  warcinfo_id_ = NewId();
  const std::string block = WarcinfoText(view_.layout().config());
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
  Result<ExportedCapture> added = TryToAdd(capture);
  return added ? added : ExportError(added.error(), writer_->Abandon());
}

Result<ExportedCapture> WarcExport::TryToAdd(const catalog::HeldCapture& capture) {
  ExportedCapture exported;
  exported.is_revisit = catalog::IsRevisit(capture.row);
  if (exported.is_revisit && !keep_revisits_) {
    Result<catalog::HeldCapture> original = resolver_.Resolve(capture);
    if (original) return AddWhole(capture, *original);
    if (original.error().code != ErrorCode::kNotFound) return original.error();
    ++unresolved_;
  }
  using Segments = CaptureBlock::Segments;
  const Result<std::unique_ptr<CaptureBlock>> block = CaptureBlock::Open(
      view_, capture.row, keep_revisits_ ? Segments::kFirst : Segments::kJoinedIfAllHere);
  if (!block) return block.error();
  const Result<BlockFacts> facts = ExamineBlock(**block);
  if (!facts) return facts.error();
  // Before anything is written that it may turn out to lack.
  const Result<std::vector<Companion>> companions = companions_.Of(capture.row);
  if (!companions) return companions.error();
  const bool is_joined = (*block)->is_joined();
  Result<record::Extent> extent =
      is_joined ? WriteJoined(capture.row, *facts) : CopyCapture(capture.row, *facts);
  if (!extent) return extent.error();
  exported.extent = *extent;
  const Status copied = CopyCompanions(capture, *companions, "", "");
  if (!copied) return copied.error();
  if (is_joined) return exported;
  for (const Continuation& segment : (*block)->continuations()) {
    const Result<record::Extent> end = CopyPlace(segment.container, segment.place, "", "");
    if (!end) return end.error();
  }
  return exported;
}

Result<ExportedCapture> WarcExport::AddWhole(const catalog::HeldCapture& revisit,
                                             const catalog::HeldCapture& original) {
  const Result<std::vector<Companion>> companions = companions_.Of(revisit.row);
  if (!companions) return companions.error();
  ExportedCapture exported;
  std::string old_id;
  std::string new_id;
  Result<record::Extent> extent = WriteWhole(revisit, original, old_id, new_id);
  if (!extent) return extent.error();
  exported.extent = *extent;
  if (const Status copied = CopyCompanions(revisit, *companions, old_id, new_id); !copied) {
    return copied.error();
  }
  return exported;
}

Status WarcExport::CopyCompanions(const catalog::HeldCapture& capture,
                                  const std::vector<Companion>& companions, std::string_view old_id,
                                  std::string_view new_id) {
  for (const Companion& companion : companions) {
    if (companion.type == record::RecordType::kContinuation) continue;
    const Result<record::Extent> copied =
        CopyPlace(capture.row.place.container, companion, old_id, new_id);
    if (!copied) return copied.error();
  }
  return {};
}

Result<record::Extent> WarcExport::CopyPlace(std::uint32_t container, const Companion& companion,
                                             std::string_view old_id, std::string_view new_id) {
  Result<std::unique_ptr<StoredRecord>> first = view_.Open(container, companion);
  if (!first) return first.error();
  Result<BlockFacts> facts = ExamineBlock(**first);
  if (!facts) return facts.error();
  Result<std::unique_ptr<StoredRecord>> stored = view_.Open(container, companion);
  if (!stored) return stored.error();
  const catalog::CapturePlace place{container, companion.offset, companion.length};
  return CopyRecord(place, **stored, *facts, old_id, new_id);
}

Result<record::Extent> WarcExport::WriteJoined(const catalog::Capture& capture,
                                               const BlockFacts& facts) {
  const Result<std::unique_ptr<CaptureBlock>> block = CaptureBlock::Open(view_, capture);
  if (!block) return block.error();
  const warc::FieldList fields = JoinedFields((*block)->record(), facts);
  if (const Status begun = writer_->Begin(fields, facts.length); !begun) return begun.error();
  const Status written =
      ForEachPiece(**block, 0, [&](std::string_view piece) { return writer_->Append(piece); });
  if (!written) return written.error();
  return writer_->End();
}

Result<record::Extent> WarcExport::CopyCapture(const catalog::Capture& capture,
                                               const BlockFacts& facts) {
  const Result<std::unique_ptr<StoredRecord>> stored = view_.Open(capture);
  if (!stored) return stored.error();
  return CopyRecord(capture.place, **stored, facts, "", "");
}

Result<record::Extent> WarcExport::CopyRecord(const catalog::CapturePlace& place,
                                              StoredRecord& stored, const BlockFacts& facts,
                                              std::string_view old_id, std::string_view new_id) {
  const Record& record = stored.record();
  if (record.format != record::Format::kWarc) return CopyOld(stored, place, facts);
  std::string head(record.head);
  if (!old_id.empty()) ReplaceAll(head, old_id, new_id);
  if (record.record_id().empty()) {
    const std::size_t second_line = head.find('\n') + 1;
    head.insert(second_line,
                fmt::format("WARC-Record-ID: <{}>\r\n", DerivedId(place.container, record)));
  }
  if (facts.length != record.content_length) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("container {}, byte {}: the record has {} bytes and says {}",
                             place.container, place.offset, facts.length, record.content_length)};
  }
  const Status begun = writer_->BeginCopy(head, facts.length, "\r\n\r\n");
  if (!begun) return begun.error();
  const Status copied =
      ForEachPiece(stored, 0, [&](std::string_view piece) { return writer_->Append(piece); });
  if (!copied) return copied.error();
  return writer_->End();
}

Result<record::Extent> WarcExport::CopyOld(StoredRecord& stored, const catalog::CapturePlace& place,
                                           const BlockFacts& facts) {
  const Record& record = stored.record();
  warc::FieldList fields;
  fields.Add("WARC-Type", record::RecordTypeName(record.type));
  fields.Add("WARC-Record-ID", fmt::format("<{}>", DerivedId(place.container, record)));
  fields.Add("WARC-Warcinfo-ID", warcinfo_id_);
  fields.Add("WARC-Date", FormatIso(record.date.value_or(Timestamp{})));
  warc::AddOldFields(record, fields);
  fields.Add("WARC-Block-Digest", facts.digest);
  fields.Add("WARC-Payload-Digest", facts.payload_digest);
  if (const Status begun = writer_->Begin(fields, facts.length); !begun) return begun.error();
  const Status copied =
      ForEachPiece(stored, 0, [&](std::string_view piece) { return writer_->Append(piece); });
  if (!copied) return copied.error();
  return writer_->End();
}

Result<record::Extent> WarcExport::WriteWhole(const catalog::HeldCapture& revisit,
                                              const catalog::HeldCapture& original,
                                              std::string& old_id, std::string& new_id) {
  Result<WholeBlock> whole = WholeBlock::Of(view_, revisit.row, original.row);
  if (!whole) return whole.error();
  Hasher hasher(DigestAlgorithm::kSha1);
  const Status hashed = whole->ForEach([&](std::string_view piece) -> Status {
    hasher.Update(piece);
    return {};
  });
  if (!hashed) return hashed.error();

  const Record& record = whole->revisit();
  old_id = record.record_id();
  new_id = NewId();
  warc::FieldList fields;
  fields.Add("WARC-Type", record::RecordTypeName(whole->original().type));
  fields.Add("WARC-Record-ID", new_id);
  fields.Add("WARC-Warcinfo-ID", warcinfo_id_);
  fields.Add("WARC-Date", record.date_text);
  fields.Add("WARC-Target-URI", record.target_uri);
  // What else it says of the fetch: address, protocol and whatever its writer noted.
  constexpr std::array<std::string_view, 14> kOfRevisits = {"WARC-Type",
                                                            "WARC-Record-ID",
                                                            "WARC-Warcinfo-ID",
                                                            "WARC-Date",
                                                            "WARC-Target-URI",
                                                            "Content-Type",
                                                            "Content-Length",
                                                            "WARC-Profile",
                                                            "WARC-Refers-To",
                                                            "WARC-Truncated",
                                                            "WARC-Block-Digest",
                                                            "WARC-Payload-Digest",
                                                            "WARC-Refers-To-Target-URI",
                                                            "WARC-Refers-To-Date"};
  CopyFields(record, kOfRevisits, fields);
  fields.Add("Content-Type", warc::FieldText(whole->original().content_type));
  if (const auto cut = whole->original().fields.Find("WARC-Truncated")) {
    fields.Add("WARC-Truncated", *cut);
  } else if (whole->is_cut_off()) {
    fields.Add("WARC-Truncated", "unspecified");
  }
  fields.Add("WARC-Block-Digest", hasher.Finish().Labelled());
  fields.Add("WARC-Payload-Digest", whole->payload_digest());
  if (const Status begun = writer_->Begin(fields, whole->length()); !begun) return begun.error();
  const Status written =
      whole->ForEach([&](std::string_view piece) { return writer_->Append(piece); });
  if (!written) return written.error();
  return writer_->End();
}

}  // namespace stele::archive
