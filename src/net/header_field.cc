#include "net/header_field.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/http/field_block.h"

namespace stele::net {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

}  // namespace

Status CheckField(const HeaderField& field) {
  const auto& [name, value] = field;
  if (name.empty() || !std::all_of(name.begin(), name.end(), http::IsTokenCharacter)) {
    return Error{ErrorCode::kInvalid, "a header's name has a character that names do not have"};
  }
  if (std::any_of(value.begin(), value.end(), [](char c) { return IsControl(c); })) {
    return Error{ErrorCode::kInvalid, fmt::format("the value of {} has a control character", name)};
  }
  return {};
}

Status CheckRequestLine(std::string_view method, std::string_view target) {
  if (method.empty() || !std::all_of(method.begin(), method.end(), http::IsTokenCharacter)) {
    return Error{ErrorCode::kInvalid, "the method is none"};
  }
  const bool plain = std::none_of(target.begin(), target.end(),
                                  [](char c) { return IsControl(c) || c == ' ' || c == '\t'; });
  if (target.empty() || !plain) {
    return Error{ErrorCode::kInvalid, "the target is empty or has spaces or control characters"};
  }
  return {};
}

}  // namespace stele::net
