#include "access/regex_filter.h"

#include <fmt/format.h>
#include <unicode/uregex.h>
#include <unicode/ustring.h>

#include <string>

namespace stele::access {
namespace {

// Of the engine's steps, roughly milliseconds; of its stack.
constexpr std::int32_t kTimeMax = 50;
constexpr std::int32_t kStackBytesMax = 1 << 20;
constexpr std::size_t kPatternMax = 1024;

// Byte by byte: what is compared is ASCII, mostly.
std::u16string Widen(std::string_view text) {
  std::u16string wide;
  wide.reserve(text.size());
  for (const char c : text) wide.push_back(static_cast<unsigned char>(c));
  return wide;
}

class IcuFilter final : public RegexFilter {
 public:
  IcuFilter(URegularExpression* regex, Anchor anchor) : regex_(regex), anchor_(anchor) {}
  ~IcuFilter() override { uregex_close(regex_); }
  IcuFilter(const IcuFilter&) = delete;
  IcuFilter& operator=(const IcuFilter&) = delete;

  Result<bool> Matches(std::string_view text) override {
    text_ = Widen(text);
    UErrorCode status = U_ZERO_ERROR;
    uregex_setText(regex_, text_.data(), static_cast<std::int32_t>(text_.size()), &status);
    const UBool found = anchor_ == Anchor::kWhole ? uregex_matches(regex_, 0, &status)
                                                  : uregex_lookingAt(regex_, 0, &status);
    if (U_SUCCESS(status)) return found != 0;
    return Error{ErrorCode::kFull, "a filter's regular expression takes too long"};
  }

 private:
  URegularExpression* const regex_;
  const Anchor anchor_;
  std::u16string text_;  // borrowed by regex_
};

}  // namespace

Result<std::unique_ptr<RegexFilter>> RegexFilter::Make(std::string_view pattern, Anchor anchor) {
  const Error wrong{ErrorCode::kInvalid,
                    fmt::format("'{}' is no regular expression", pattern.substr(0, 100))};
  if (pattern.size() > kPatternMax) return wrong;
  const std::u16string wide = Widen(pattern);
  UErrorCode status = U_ZERO_ERROR;
  UParseError place;
  URegularExpression* regex =
      uregex_open(wide.data(), static_cast<std::int32_t>(wide.size()), 0, &place, &status);
  if (U_FAILURE(status)) return wrong;
  uregex_setTimeLimit(regex, kTimeMax, &status);
  uregex_setStackLimit(regex, kStackBytesMax, &status);
  return std::unique_ptr<RegexFilter>(std::make_unique<IcuFilter>(regex, anchor));
}

}  // namespace stele::access
