#include "dedup/media_filter.h"

#include <fmt/format.h>

#include <regex>

namespace stele::dedup {
namespace {

// A server may send a million bytes as a type, for each of which the library would go one call
// deeper. RFC 6838 allows 127 on each side of the slash.
constexpr std::size_t kTypeBytesMax = 255;

}  // namespace

struct MediaFilter::Expression {
  std::string pattern;
  std::regex compiled;
};

Result<MediaFilter> MediaFilter::Create(std::string_view pattern, Mode mode) {
  auto expression = std::make_shared<Expression>();
  expression->pattern = pattern;
  try {  // the one way in which the library says that an expression is none
    expression->compiled =
        std::regex(expression->pattern, std::regex::ECMAScript | std::regex::icase);
  } catch (const std::regex_error& error) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is no regular expression: {}", pattern, error.what())};
  }
  MediaFilter filter;
  filter.expression_ = std::move(expression);
  filter.mode_ = mode;
  return filter;
}

bool MediaFilter::Takes(std::string_view type) const {
  if (expression_ == nullptr) return true;
  type = type.substr(0, kTypeBytesMax);
  const bool matches = std::regex_match(type.begin(), type.end(), expression_->compiled);
  return matches == (mode_ == Mode::kWhitelist);
}

std::string MediaFilter::Text() const {
  if (expression_ == nullptr) return "all";
  return fmt::format("{} {}", mode_ == Mode::kWhitelist ? "only" : "all but", expression_->pattern);
}

}  // namespace stele::dedup
