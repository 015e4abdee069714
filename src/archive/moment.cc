#include "archive/moment.h"

#include <algorithm>

#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::archive {

std::optional<std::string> MomentDigits(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsAsciiDigit)) {
    return ParseDigits(text) ? std::optional(std::string(text)) : std::nullopt;
  }
  const std::optional<Timestamp> time = ParseIso(text);
  if (!time) return std::nullopt;
  // As many digits as were written, those of a zone apart.
  const std::size_t clock = text.find('T');
  const std::string_view local =
      clock == std::string_view::npos ? text : text.substr(0, text.find_first_of("Z+-", clock));
  const auto digits = std::count_if(local.begin(), local.end(), IsAsciiDigit);
  return FormatDigits17(*time).substr(0, static_cast<std::size_t>(digits));
}

std::optional<Moments> MomentsOf(std::string_view text) {
  const std::optional<std::string> digits = MomentDigits(text);
  if (!digits) return std::nullopt;
  const Timestamp first = *ParseDigits(*digits);
  // The last with these digits: those behind them as large as they go, days as the month has them.
  constexpr std::string_view kLargest = "99991231235959999";
  for (int day = 31; day >= 28; --day) {
    std::string last = *digits + std::string(kLargest.substr(digits->size()));
    if (digits->size() <= 6) {
      last[6] = static_cast<char>('0' + day / 10);
      last[7] = static_cast<char>('0' + day % 10);
    }
    if (const std::optional<Timestamp> time = ParseDigits(last)) return Moments{first, *time};
  }
  return Moments{first, first};
}

std::string PrefixKey(const std::string& url) {
  std::string key = url::SurtKey(url);
  if ((url.ends_with('/') || url.ends_with('?')) && !key.ends_with(url.back())) key += url.back();
  return key;
}

}  // namespace stele::archive
