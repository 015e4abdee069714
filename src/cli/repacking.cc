#include "cli/repacking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "archive/warc_export.h"
#include "archive/warcinfo_text.h"
#include "cli/output.h"
#include "cli/record_selection.h"
#include "cli/rewriting.h"
#include "cli/warc_conversion.h"
#include "cli/whole_records.h"
#include "formats/record/payload.h"
#include "formats/warc/old_fields.h"
#include "formats/warc/revisit.h"
#include "formats/warc/segments.h"
#include "util/ascii.h"
#include "util/checksum.h"
#include "util/digest.h"

namespace stele::cli {
namespace {

using record::Record;
using record::RecordType;

// Fields that name records of the same file. What a revisit refers to may be in another one.
constexpr std::array<std::string_view, 4> kInnerReferences = {
    "WARC-Record-ID", "WARC-Concurrent-To", "WARC-Refers-To", "WARC-Segment-Origin-ID"};

class PayloadHashers final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override {
    sha1_.Update(piece);
    sha256_.Update(piece);
    length_ += piece.size();
  }
  dedup::PayloadDigest Finish() {
    dedup::PayloadDigest digest;
    const Digest sha1 = sha1_.Finish();
    const Digest sha256 = sha256_.Finish();
    digest.sha1.emplace();
    digest.sha256.emplace();
    std::copy_n(sha1.bytes().begin(), digest.sha1->size(), digest.sha1->begin());
    std::copy_n(sha256.bytes().begin(), digest.sha256->size(), digest.sha256->begin());
    sha1_label_ = sha1.Labelled();
    sha256_label_ = sha256.Labelled();
    return digest;
  }
  std::uint64_t length() const { return length_; }
  // By the algorithm by which the record names its payload itself, so that a revisit can be
  // compared with an original of the same crawler; SHA-1 where it names none. After Finish().
  const std::string& LabelFor(const Record& record) const {
    const std::optional<Digest> claim =
        Digest::Parse(record.fields.Find("WARC-Payload-Digest").value_or(""));
    const bool is_sha256 = claim && claim->algorithm() == DigestAlgorithm::kSha256;
    return is_sha256 ? sha256_label_ : sha1_label_;
  }

 private:
  Hasher sha1_{DigestAlgorithm::kSha1};
  Hasher sha256_{DigestAlgorithm::kSha256};
  std::uint64_t length_ = 0;
  std::string sha1_label_;
  std::string sha256_label_;
};

// The capture that has a payload.
struct Original {
  std::string uri;
  std::string date;
  std::string id;
};

class Repacker {
 public:
  Repacker(const RepackOptions& options, WholeRecords& records, warc::WarcWriter& writer)
      : options_(options), records_(records), writer_(writer) {}

  Status WriteWarcinfo(Timestamp date) {
    std::string block(options_.about);
    block += archive::WarcinfoLine("source", options_.source_name);
    block += archive::WarcinfoLine("source-sha256", options_.source_sha256);
    warcinfo_id_ = NewId("");
    warc::FieldList fields;
    fields.Add("WARC-Type", "warcinfo");
    fields.Add("WARC-Record-ID", warcinfo_id_);
    fields.Add("WARC-Date", FormatIso(date));
    fields.Add("WARC-Filename", warc::FieldText(options_.name));
    fields.Add("Content-Type", "application/warc-fields");
    fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha1, block).Labelled());
    const Result<record::Extent> written = writer_.Write(fields, block);
    return written ? Status() : written.error();
  }

  Status Add(const Record& record) {
    PayloadHashers hashers;
    record::PayloadStream payload;
    payload.Begin(record);
    const Result<bool> whole =
        records_.HoldStored([&](std::string_view piece) { payload.Feed(piece, &hashers); });
    if (!whole) return whole.error();
    if (!*whole) return {};
    payload.Finish(&hashers);
    ++outcome_.records;
    known_ids_.insert(ChecksumOf(record.record_id()));
    const bool may_repeat = options_.known != nullptr && IsCapture(record) &&
                            hashers.length() > 0 && payload.head_length() > 0;
    if (!may_repeat) return Copy(record);
    const dedup::PayloadDigest digest = hashers.Finish();
    const Result<std::optional<Original>> original = Find(record, digest);
    if (!original) return original.error();
    if (!*original) {
      here_.try_emplace(*digest.sha256, Original{std::string(record.target_uri),
                                                 std::string(record.date_text), NewIdOf(record)});
      return Copy(record);
    }
    ++outcome_.duplicates;
    return WriteRevisit(record, **original, hashers.LabelFor(record), payload.head_length());
  }

  RepackOutcome& outcome() { return outcome_; }

 private:
  std::string NewId(std::string_view old) const {
    return fmt::format("<{}>", archive::DerivedRecordId(options_.source_sha256, old));
  }

  std::string NewIdOf(const Record& record) const {
    if (!record.record_id().empty()) return NewId(record.record_id());
    return fmt::format("<{}>", archive::DerivedRecordId(options_.source_sha256, record));
  }

  static bool IsCapture(const Record& record) {
    return record.type == RecordType::kResponse && !record.target_uri.empty() && record.date &&
           !warc::BeginsSegments(record) && !record.fields.Find("WARC-Truncated");
  }

  // What has the payload already: a record further up in this file, a capture of the same URL, or
  // any other.
  Result<std::optional<Original>> Find(const Record& record, const dedup::PayloadDigest& digest) {
    if (const auto found = here_.find(*digest.sha256); found != here_.end()) {
      return std::optional(found->second);
    }
    dedup::OriginalSource::Documents documents = options_.known->ByUrl(record.target_uri);
    if (!documents) return documents.error();
    std::erase_if(*documents, [&](const dedup::KnownDocument& document) {
      return !document.digest.SameAs(digest);
    });
    if (documents->empty()) documents = options_.known->ByDigest(digest);
    if (!documents) return documents.error();
    for (dedup::KnownDocument& document : *documents) {
      const Status complete = options_.known->Complete(document);
      if (complete) {
        return std::optional(Original{document.url, FormatIso(document.time), document.record_id});
      }
      if (complete.error().code != ErrorCode::kNotFound) return complete.error();
    }
    return std::optional<Original>();
  }

  // The fields of a record, with new ids.
  warc::FieldList FieldsOf(const Record& record) const {
    warc::FieldList fields;
    for (const http::Field& field : record.fields.fields()) {
      if (EqualsIgnoreCase(field.name, "Content-Length")) continue;
      const bool is_inner =
          std::any_of(kInnerReferences.begin(), kInnerReferences.end(),
                      [&](std::string_view name) { return EqualsIgnoreCase(field.name, name); });
      const bool is_here =
          record.type != RecordType::kRevisit || known_ids_.contains(ChecksumOf(field.value));
      if (EqualsIgnoreCase(field.name, "WARC-Warcinfo-ID")) {
        fields.Add(field.name, warcinfo_id_);
      } else {
        fields.Add(field.name, is_inner && is_here ? NewId(field.value) : std::string(field.value));
      }
    }
    if (record.record_id().empty()) fields.Add("WARC-Record-ID", NewIdOf(record));
    return fields;
  }

  Status Copy(const Record& record) {
    return WriteRecord(FieldsOf(record), records_.block(), writer_);
  }

  Status WriteRevisit(const Record& record, const Original& original, const std::string& digest,
                      std::uint64_t head_length) {
    std::string head;
    const Status read = records_.block().ForEach([&](std::string_view piece) -> Status {
      head += piece.substr(0, head_length - head.size());
      return {};
    });
    if (!read) return read;
    warc::FieldList fields = FieldsOf(record);
    fields.Set("WARC-Type", "revisit");
    fields.Set("WARC-Payload-Digest", digest);
    fields.Set("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha1, head).Labelled());
    warc::AddRevisitFields(warc::RevisitProfile::kIdenticalPayload,
                           {original.uri, original.date, original.id}, fields);
    const Result<record::Extent> written = writer_.Write(fields, head);
    return written ? Status() : written.error();
  }

  const RepackOptions& options_;
  WholeRecords& records_;
  warc::WarcWriter& writer_;
  std::string warcinfo_id_;
  std::unordered_set<std::uint64_t> known_ids_;    // checksums of old ids further up
  std::map<catalog::Sha256Bytes, Original> here_;  // payloads of this file
  RepackOutcome outcome_;
};

// Writes the records of an ARC or Tianwang file to a plain WARC file at `path`.
Result<ExitCode> ConvertTo(const std::string& path, Context& context, FileJob& job,
                           const RepackOptions& options) {
  WholeRecords::Options reading;
  reading.spill_path = options.spill_path;
  Result<std::unique_ptr<WholeRecords>> records = WholeRecords::Open(context, job, reading);
  if (!records) return records.error();
  Result<std::unique_ptr<OutputFile>> file = OutputFile::Create(context, path, true);
  if (!file) return file.error();
  warc::WriterOptions plain;
  plain.compression = record::Compression::kNone;
  Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(**file, plain);
  if (!writer) return writer.error();
  LockedRandom random(context.random);
  WarcConversion conversion(random, context.clock, "-", **writer);
  conversion.BeginFile(job.path);
  for (;;) {
    const Result<const Record*> record = (*records)->Next();
    if (!record) return record.error();
    if (*record == nullptr) break;
    PeekedBlock block((*records)->reader(), **record);
    const Result<bool> converted = conversion.Convert(**record, block, **records);
    if (!converted) return converted.error();
  }
  if (const Status done = (*file)->Commit(); !done) return done.error();
  return (*records)->Report();
}

Result<bool> IsWarc(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(fs, path);
  if (!file) return file.error();
  const Result<const Record*> first = (*file)->reader().Next();
  if (!first) return first.error();
  return *first == nullptr || (*first)->format == record::Format::kWarc;
}

}  // namespace

Result<RepackOutcome> Repack(Context& context, FileJob& job, const RepackOptions& options,
                             io::Sink& out) {
  const Result<bool> is_warc = IsWarc(context.fs, job.path);
  if (!is_warc) return is_warc.error();
  if (!*is_warc) {
    const std::string path = options.spill_path + ".warc";
    const Result<ExitCode> converted = ConvertTo(path, context, job, options);
    if (!converted) return converted.error();
    std::atomic<std::uint64_t> not_shown = 0;
    FileJob again{path, job.out, not_shown};
    Result<RepackOutcome> outcome = Repack(context, again, options, out);
    if (outcome && outcome->code == ExitCode::kDone) outcome->code = *converted;
    return outcome;
  }
  WholeRecords::Options reading;
  reading.spill_path = options.spill_path;
  Result<std::unique_ptr<WholeRecords>> records = WholeRecords::Open(context, job, reading);
  if (!records) return records.error();
  Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(out, {});
  if (!writer) return writer.error();
  Repacker repacker(options, **records, **writer);
  if (const Status begun = repacker.WriteWarcinfo(context.clock.Now()); !begun) {
    return begun.error();
  }
  for (;;) {
    const Result<const Record*> record = (*records)->Next();
    if (!record) return record.error();
    if (*record == nullptr) break;
    if (const Status added = repacker.Add(**record); !added) return added.error();
  }
  repacker.outcome().code = (*records)->Report();
  return repacker.outcome();
}

}  // namespace stele::cli
