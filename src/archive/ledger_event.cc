#include "archive/ledger_event.h"

#include <fmt/format.h>

#include <charconv>

#include "util/ascii.h"
#include "util/check.h"

namespace stele::archive {
namespace {

constexpr std::string_view kWhat = "event";
constexpr std::string_view kTime = "time";

std::string Encode(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '%') {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> Decode(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') {
      out += value[i];
      continue;
    }
    if (i + 2 >= value.size()) return std::nullopt;
    unsigned byte = 0;
    const char* end = value.data() + i + 3;
    const auto [parsed, error] = std::from_chars(value.data() + i + 1, end, byte, 16);
    if (error != std::errc() || parsed != end) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

}  // namespace

void LedgerEvent::Add(std::string_view name, std::uint64_t value) {
  Add(name, fmt::to_string(value));
}

std::string_view LedgerEvent::Find(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return {};
}

std::vector<std::string_view> LedgerEvent::FindAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [field, value] : fields) {
    if (field == name) values.push_back(value);
  }
  return values;
}

Result<std::uint64_t> LedgerEvent::Number(std::string_view name) const {
  const std::string_view text = Find(name);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: {} should be a number and is '{}'", what, name, text)};
  }
  return number;
}

std::string FormatLedgerEvent(const LedgerEvent& event) {
  std::string out =
      fmt::format("{}: {}\r\n{}: {}\r\n", kWhat, event.what, kTime, FormatIsoMillis(event.time));
  for (const auto& [name, value] : event.fields) {
    out += fmt::format("{}: {}\r\n", name, Encode(value));
  }
  return out;
}

Result<LedgerEvent> ParseLedgerEvent(std::string_view lines) {
  LedgerEvent event;
  bool has_time = false;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::size_t colon = lines.find(": ");
    if (end == std::string_view::npos || colon == std::string_view::npos || colon > end) {
      return Error{ErrorCode::kCorrupt, "a line without name, colon and line end"};
    }
    const std::string_view name = lines.substr(0, colon);
    std::optional<std::string> value = Decode(lines.substr(colon + 2, end - colon - 2));
    if (!value) {
      return Error{ErrorCode::kCorrupt, fmt::format("{}: a bad percent-encoding", name)};
    }
    lines.remove_prefix(end + 2);
    if (name == kWhat && event.what.empty()) {
      event.what = std::move(*value);
    } else if (name == kTime && !has_time) {
      const std::optional<Timestamp> time = ParseIso(*value);
      if (!time) return Error{ErrorCode::kCorrupt, fmt::format("'{}' is no time", *value)};
      event.time = *time;
      has_time = true;
    } else {
      event.fields.emplace_back(name, std::move(*value));
    }
  }
  if (event.what.empty() || !has_time) {
    return Error{ErrorCode::kCorrupt, "an event without name or time"};
  }
  return event;
}

}  // namespace stele::archive
