#include "formats/warc/truncation.h"

#include <array>

#include "util/ascii.h"

namespace stele::warc {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "", "length", "time", "disconnect", "unspecified", "head", ""};

}  // namespace

std::string_view TruncationName(Truncation truncation) {
  return kNames[static_cast<std::size_t>(truncation)];
}

Truncation TruncationOf(const record::Record& record) {
  const std::optional<std::string_view> value = record.fields.Find("WARC-Truncated");
  if (!value) return Truncation::kNone;
  for (std::size_t i = 1; i + 1 < kNames.size(); ++i) {
    if (EqualsIgnoreCase(*value, kNames[i])) return static_cast<Truncation>(i);
  }
  return Truncation::kOther;
}

}  // namespace stele::warc
