#include "dedup/digest_index_summary.h"

#include "dedup/digest_entry.h"
#include "util/coding.h"

namespace stele::dedup {

std::string FormatIndexSummary(const DigestIndexSummary& summary) {
  std::string out;
  PutVarint(out, kDigestIndexVersion);
  PutVarint(out, summary.by_url);
  PutVarint(out, summary.by_digest);
  PutSized(out, EquivalentRuleName(summary.equivalent));
  PutVarint(out, summary.with_etag);
  PutVarint(out, summary.documents);
  PutVarint(out, summary.duplicates);
  return out;
}

Result<DigestIndexSummary> ParseIndexSummary(std::string_view bytes) {
  ByteReader reader(bytes);
  const std::uint64_t version = reader.Varint();
  if (version > kDigestIndexVersion) {
    return Error{ErrorCode::kInvalid, "a later version of Stele wrote it"};
  }
  DigestIndexSummary summary;
  summary.by_url = reader.Varint() != 0;
  summary.by_digest = reader.Varint() != 0;
  const std::optional<EquivalentRule> rule = EquivalentRuleByName(reader.Sized());
  summary.with_etag = reader.Varint() != 0;
  summary.documents = reader.Varint();
  summary.duplicates = reader.Varint();
  if (version != kDigestIndexVersion || !rule || !reader.good() || !reader.AtEnd()) {
    return Error{ErrorCode::kCorrupt, "the summary makes no sense"};
  }
  summary.equivalent = *rule;
  return summary;
}

}  // namespace stele::dedup
