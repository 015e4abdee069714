#include "catalog/pisa_segment_format.h"

#include "util/coding.h"

namespace stele::catalog {
namespace {

constexpr std::uint64_t kVersion = 3;
constexpr std::uint64_t kBytesMax = 1 << 20;  // of a block

bool TakePart(ByteReader& in, const PisaSegmentSummary& summary, PisaPart& part) {
  part.first_key = in.Sized();
  const std::uint64_t roots = in.Varint();
  for (std::uint64_t i = 0; i < roots && in.good(); ++i) {
    const Timestamp birth{in.SignedVarint()};
    const PisaBlockNumber block = in.Varint();
    if (part.roots.empty() ? birth != summary.first : birth <= part.roots.back().birth) {
      return false;
    }
    part.roots.push_back({birth, block});
  }
  return in.good() && roots > 0;
}

}  // namespace

std::string FormatPisaSummary(const PisaSegmentSummary& summary) {
  std::string text;
  PutVarint(text, kVersion);
  PutSignedVarint(text, summary.first.milliseconds);
  PutSignedVarint(text, summary.end.milliseconds);
  PutVarint(text, summary.limits.block_bytes_max);
  PutVarint(text, summary.limits.key_bytes_max);
  PutVarint(text, summary.keys);
  PutVarint(text, summary.carried);
  PutVarint(text, summary.captures);
  PutVarint(text, summary.parts.size());
  for (const PisaPart& part : summary.parts) {
    PutSized(text, part.first_key);
    PutVarint(text, part.roots.size());
    for (const PisaRoot& root : part.roots) {
      PutSignedVarint(text, root.birth.milliseconds);
      PutVarint(text, root.block);
    }
  }
  summary.clock.Put(text);
  return text;
}

Result<PisaSegmentSummary> ParsePisaSummary(std::string_view text) {
  const Error error{ErrorCode::kCorrupt, "its summary is not that of persistent trees"};
  ByteReader in(text);
  PisaSegmentSummary summary;
  const std::uint64_t version = in.Varint();
  if (in.good() && version != kVersion) {
    return Error{ErrorCode::kCorrupt, "it is of version " + std::to_string(version) +
                                          ", and this program knows version " +
                                          std::to_string(kVersion)};
  }
  summary.first.milliseconds = in.SignedVarint();
  summary.end.milliseconds = in.SignedVarint();
  summary.limits.block_bytes_max = in.Varint();
  summary.limits.key_bytes_max = in.Varint();
  summary.keys = in.Varint();
  summary.carried = in.Varint();
  summary.captures = in.Varint();
  const std::uint64_t parts = in.Varint();
  if (!in.good() || parts == 0 || summary.first >= summary.end) return error;
  const PisaLimits& limits = summary.limits;
  if (limits.block_bytes_max > kBytesMax || limits.key_bytes_max > kBytesMax || !limits.Valid()) {
    return error;
  }
  for (std::uint64_t i = 0; i < parts; ++i) {
    PisaPart part;
    if (!TakePart(in, summary, part)) return error;
    const bool first = summary.parts.empty();
    if (first ? !part.first_key.empty() : part.first_key <= summary.parts.back().first_key) {
      return error;
    }
    summary.parts.push_back(std::move(part));
  }
  if (!SerialClock::Take(in, summary.clock)) return error;
  return in.AtEnd() ? Result<PisaSegmentSummary>(std::move(summary)) : error;
}

}  // namespace stele::catalog
