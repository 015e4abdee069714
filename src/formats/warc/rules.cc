#include "formats/warc/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/warc/revisit.h"
#include "formats/warc/truncation.h"
#include "util/ascii.h"

namespace stele::warc {
namespace {

using record::Defect;
using record::Record;
using record::RecordType;

constexpr unsigned Bit(RecordType type) { return 1u << static_cast<unsigned>(type); }

constexpr unsigned kWarcinfo = Bit(RecordType::kWarcinfo);
constexpr unsigned kResponse = Bit(RecordType::kResponse);
constexpr unsigned kResource = Bit(RecordType::kResource);
constexpr unsigned kRequest = Bit(RecordType::kRequest);
constexpr unsigned kMetadata = Bit(RecordType::kMetadata);
constexpr unsigned kRevisit = Bit(RecordType::kRevisit);
constexpr unsigned kConversion = Bit(RecordType::kConversion);
constexpr unsigned kContinuation = Bit(RecordType::kContinuation);
constexpr unsigned kUnknown = Bit(RecordType::kUnknown);

// Which types must have a field, and which must not. Unknown types are left alone.
struct FieldRule {
  std::string_view field;
  unsigned required = 0;
  unsigned forbidden = 0;
};

constexpr std::array<FieldRule, 13> kFieldRules = {{
    {"WARC-Record-ID", ~0u, 0},
    {"WARC-Date", ~0u, 0},
    {"WARC-Type", ~0u, 0},
    {"WARC-Target-URI", kResponse | kResource | kRequest | kRevisit | kConversion | kContinuation,
     kWarcinfo},
    {"WARC-Profile", kRevisit, 0},
    {"WARC-Segment-Origin-ID", kContinuation, ~kContinuation & ~kUnknown},
    {"WARC-Segment-Number", kContinuation, 0},
    {"WARC-Refers-To", 0, kWarcinfo | kResponse | kResource | kRequest | kContinuation},
    {"WARC-Refers-To-Target-URI", 0, ~kRevisit & ~kUnknown},
    {"WARC-Refers-To-Date", 0, ~kRevisit & ~kUnknown},
    {"WARC-Concurrent-To", 0, kWarcinfo | kConversion | kContinuation},
    {"WARC-IP-Address", 0, kWarcinfo | kConversion | kContinuation},
    {"WARC-Filename", 0,
     kResponse | kResource | kRequest | kMetadata | kRevisit | kConversion | kContinuation},
}};

constexpr std::array<std::string_view, 5> kIdFields = {"WARC-Record-ID", "WARC-Concurrent-To",
                                                       "WARC-Refers-To", "WARC-Warcinfo-ID",
                                                       "WARC-Segment-Origin-ID"};

bool IsRepeatable(std::string_view name) {
  return EqualsIgnoreCase(name, "WARC-Concurrent-To") || EqualsIgnoreCase(name, "WARC-Protocol");
}

bool IsWarcField(std::string_view name) {
  return StartsWithIgnoreCase(name, "WARC-") || StartsWithIgnoreCase(name, "Content-");
}

void CheckPresence(const Record& record, std::vector<Defect>& defects) {
  const unsigned type = Bit(record.type);
  for (const FieldRule& rule : kFieldRules) {
    const bool present = record.fields.Find(rule.field).has_value();
    if (!present && (rule.required & type) != 0) {
      defects.push_back(
          {"missing-field",
           fmt::format("a {} record must have {}",
                       record.type_name.empty() ? "WARC" : record.type_name, rule.field)});
    }
    if (present && (rule.forbidden & type) != 0) {
      defects.push_back({"forbidden-field", fmt::format("a {} record must not have {}",
                                                        record.type_name, rule.field)});
    }
  }
}

void CheckRepetition(const Record& record, std::vector<Defect>& defects) {
  const std::vector<http::Field>& fields = record.fields.fields();
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    if (!IsWarcField(field->name) || IsRepeatable(field->name)) continue;
    const bool repeated = std::any_of(fields.begin(), field, [&](const auto& earlier) {
      return EqualsIgnoreCase(earlier.name, field->name);
    });
    if (repeated) {
      defects.push_back({"repeated-field", fmt::format("{} stands there twice", field->name)});
    }
  }
}

void CheckValues(const Record& record, std::vector<Defect>& defects) {
  for (const std::string_view name : kIdFields) {
    for (const std::string_view id : record.fields.FindAll(name)) {
      const bool good = id.size() > 4 && id.front() == '<' && id.back() == '>' &&
                        id.find(':') != std::string_view::npos &&
                        id.find_first_of(" \t") == std::string_view::npos;
      if (!good) {
        defects.push_back({"record-id", fmt::format("{} \"{}\" is not a URI in <>", name, id)});
      }
    }
  }
  for (const char c : record.target_uri) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      defects.push_back({"target-uri", fmt::format("WARC-Target-URI \"{}\" has a space or control "
                                                   "character in it",
                                                   record.target_uri)});
      break;
    }
  }
  const std::optional<std::string_view> truncated = record.fields.Find("WARC-Truncated");
  if (truncated && TruncationOf(record) == Truncation::kOther) {
    defects.push_back(
        {"truncated", fmt::format("WARC-Truncated \"{}\" is no reason that we know", *truncated)});
  }
}

}  // namespace

void CheckHead(const Record& record, std::vector<Defect>& defects) {
  constexpr std::array<std::string_view, 4> kVersions = {"0.17", "0.18", "1.0", "1.1"};
  if (std::find(kVersions.begin(), kVersions.end(), record.version) == kVersions.end()) {
    defects.push_back(
        {"version", fmt::format("WARC/{} is no version that we know", record.version)});
  }
  CheckPresence(record, defects);
  CheckRepetition(record, defects);
  CheckValues(record, defects);
  if (record.type == RecordType::kRevisit &&
      RevisitProfileOf(record) == RevisitProfile::kIdenticalPayload &&
      !record.fields.Find("WARC-Payload-Digest")) {
    defects.push_back(
        {"missing-field", "a revisit record of this profile must have WARC-Payload-Digest"});
  }
}

}  // namespace stele::warc
