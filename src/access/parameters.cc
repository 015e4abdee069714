#include "access/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/url/percent.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

std::string Decode(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return url::PercentDecode(spaced);
}

}  // namespace

Parameters Parameters::Parse(std::string_view query) {
  Parameters parameters;
  while (!query.empty() && parameters.all_.size() < kParametersMax) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view one = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (one.empty()) continue;
    const std::size_t equals = std::min(one.find('='), one.size());
    parameters.all_.emplace_back(Decode(one.substr(0, equals)),
                                 Decode(one.substr(std::min(equals + 1, one.size()))));
  }
  return parameters;
}

std::optional<std::string_view> Parameters::Get(std::string_view name) const {
  for (const auto& [key, value] : all_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Parameters::GetAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : all_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Parameters::IsOn(std::string_view name) const {
  const std::optional<std::string_view> value = Get(name);
  return value && *value != "0" && !EqualsIgnoreCase(*value, "false");
}

Result<std::uint64_t> Parameters::Number(std::string_view name, std::uint64_t fallback,
                                         std::uint64_t max) const {
  const std::optional<std::string_view> text = Get(name);
  if (!text || text->empty()) return fallback;
  const std::optional<std::uint64_t> number = ParseDecimal(*text);
  if (!number || *number > max) {
    return Error{ErrorCode::kInvalid, fmt::format("{} must be a number up to {}", name, max)};
  }
  return *number;
}

std::string EncodeArgument(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (IsAsciiAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace stele::access
