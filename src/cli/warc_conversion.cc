#include "cli/warc_conversion.h"

#include <fmt/format.h>

#include "cli/rewriting.h"
#include "formats/record/payload.h"
#include "formats/warc/old_fields.h"
#include "util/ascii.h"
#include "util/digest.h"

namespace stele::cli {
namespace {

using record::Record;
using record::RecordType;

class HashingSink final : public record::PayloadSink {
 public:
  void OnPayload(std::string_view piece) override { hasher_.Update(piece); }
  std::string Finish() { return hasher_.Finish().Labelled(); }

 private:
  Hasher hasher_{DigestAlgorithm::kSha1};
};

}  // namespace

WarcConversion::WarcConversion(io::Random& random, const io::Clock& clock,
                               std::string_view output_name, warc::WarcWriter& writer)
    : random_(random), clock_(clock), output_name_(output_name), writer_(writer) {}

std::string WarcConversion::NewId() { return fmt::format("<urn:uuid:{}>", io::NewUuid(random_)); }

void WarcConversion::BeginFile(std::string_view path) {
  input_name_ = path.substr(path.rfind('/') + 1);
  warcinfo_id_.clear();
  last_date_.reset();
}

Result<bool> WarcConversion::Convert(const Record& record, PeekedBlock& block,
                                     WholeRecords& records) {
  Hasher block_hasher(DigestAlgorithm::kSha1);
  HashingSink payload_hasher;
  record::PayloadStream payload;
  payload.Begin(record);
  Result<bool> whole = records.Hold([&] { return block.Read(); },
                                    [&](std::string_view piece) {
                                      block_hasher.Update(piece);
                                      payload.Feed(piece, &payload_hasher);
                                    });
  if (!whole || !*whole) return whole;
  payload.Finish(&payload_hasher);
  if (record.date) last_date_ = record.date;
  if (record.type == RecordType::kWarcinfo) {
    const Status written = WriteDescription(record, records.block());
    return written ? Result<bool>(true) : written.error();
  }
  if (warcinfo_id_.empty()) {
    if (const Status written = WriteWarcinfo(nullptr); !written) return written.error();
  }
  if (!record.date) ++undated_;
  warc::FieldList fields = FieldsOf(record);
  fields.Add("WARC-Block-Digest", block_hasher.Finish().Labelled());
  fields.Add("WARC-Payload-Digest", payload_hasher.Finish());
  const Status written = WriteRecord(fields, records.block(), writer_);
  return written ? Result<bool>(true) : written.error();
}

warc::FieldList WarcConversion::FieldsOf(const Record& record) {
  warc::FieldList fields;
  fields.Add("WARC-Type", record::RecordTypeName(record.type));
  fields.Add("WARC-Record-ID", NewId());
  fields.Add("WARC-Warcinfo-ID", warcinfo_id_);
  fields.Add("WARC-Date", FormatIso(last_date_.value_or(Timestamp{0})));
  warc::AddOldFields(record, fields);
  return fields;
}

Status WarcConversion::WriteWarcinfo(const Record* description) {
  warcinfo_id_ = NewId();
  const Timestamp date =
      description != nullptr && description->date ? *description->date : clock_.Now();
  warc::FieldList fields;
  fields.Add("WARC-Type", "warcinfo");
  fields.Add("WARC-Record-ID", warcinfo_id_);
  fields.Add("WARC-Date", FormatIso(date));
  if (output_name_ != "-") fields.Add("WARC-Filename", warc::FieldText(output_name_));
  fields.Add("Content-Type", "application/warc-fields");
  std::string block = "software: Stele " STELE_VERSION
                      "\r\nformat: WARC File Format 1.1\r\nconformsTo: "
                      "http://iipc.github.io/warc-specifications/specifications/warc-format/"
                      "warc-1.1/\r\n";
  if (input_name_ != "-") block += fmt::format("source: {}\r\n", warc::FieldText(input_name_));
  if (description != nullptr) {
    for (const auto& [field, name] :
         {std::pair("WARC-Filename", "arc-filename"), std::pair("ARC-Version", "arc-version"),
          std::pair("ARC-Origin", "arc-origin")}) {
      const std::optional<std::string_view> value = description->fields.Find(field);
      if (value && !value->empty())
        block += fmt::format("{}: {}\r\n", name, warc::FieldText(*value));
    }
  }
  fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha1, block).Labelled());
  const Result<record::Extent> written = writer_.Write(fields, block);
  return written ? Status() : written.error();
}

Status WarcConversion::WriteDescription(const Record& record, const HeldBlock& block) {
  if (const Status written = WriteWarcinfo(&record); !written) return written;
  if (block.size() == 0) return {};
  Hasher hasher(DigestAlgorithm::kSha1);
  std::string begin;
  const Status hashed = block.ForEach([&](std::string_view piece) {
    hasher.Update(piece);
    if (begin.empty()) begin = TrimSpace(piece.substr(0, 64));
    return Status();
  });
  if (!hashed) return hashed;
  if (begin.empty() && block.in_memory()) return {};  // blank lines
  warc::FieldList fields;
  fields.Add("WARC-Type", "metadata");
  fields.Add("WARC-Record-ID", NewId());
  fields.Add("WARC-Warcinfo-ID", warcinfo_id_);
  fields.Add("WARC-Refers-To", warcinfo_id_);
  fields.Add("WARC-Date", FormatIso(last_date_.value_or(Timestamp{0})));
  fields.Add("Content-Type", begin.starts_with("<?xml") ? "text/xml" : "text/plain");
  fields.Add("WARC-Block-Digest", hasher.Finish().Labelled());
  return WriteRecord(fields, block, writer_);
}

}  // namespace stele::cli
