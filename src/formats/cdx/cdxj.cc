#include <nlohmann/json.hpp>

#include "formats/cdx/cdx.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cdx {
namespace {

struct Name {
  const char* json;
  std::string Capture::*member;
};

constexpr Name kNames[] = {{"url", &Capture::url},          {"mime", &Capture::mime},
                           {"status", &Capture::status},    {"digest", &Capture::digest},
                           {"length", &Capture::length},    {"offset", &Capture::offset},
                           {"filename", &Capture::filename}};

std::string Capture::*MemberOf(std::string_view json_name) {
  for (const Name& name : kNames) {
    if (json_name == name.json) return name.member;
  }
  return nullptr;
}

void AppendPair(std::string& out, std::string_view name, std::string_view value) {
  if (out.back() != '{') out += ", ";
  AppendJsonString(out, name);
  out += ": ";
  AppendJsonString(out, value);
}

}  // namespace

Result<Capture> ParseCdxjLine(std::string_view line) {
  const Error wrong{ErrorCode::kCorrupt, "the line is not \"key timestamp {json}\""};
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return wrong;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return wrong;
  Capture capture;
  capture.key = line.substr(0, first);
  capture.timestamp = line.substr(first + 1, second - first - 1);
  const nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(line.substr(second + 1), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return wrong;
  for (const auto& [name, value] : json.items()) {
    const std::string text =
        value.is_string()
            ? value.get<std::string>()
            : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (std::string Capture::*member = MemberOf(name)) {
      capture.*member = text == "-" ? "" : text;
    } else {
      capture.others.emplace_back(
          name, value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }
  }
  return capture;
}

std::string FormatCdxjLine(const Capture& capture) {
  std::string line = capture.key + ' ' + capture.timestamp + " {";
  for (const Name& name : kNames) {
    const std::string& value = capture.*name.member;
    if (!value.empty()) AppendPair(line, name.json, value);
  }
  for (const auto& [name, json] : capture.others) {
    if (line.back() != '{') line += ", ";
    AppendJsonString(line, name);
    line += ": ";
    line += json;
  }
  line += '}';
  return line;
}

}  // namespace stele::cdx
