#include "formats/http/field_block.h"
#include "formats/http/message.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::http {

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (EqualsIgnoreCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::FindAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Field& field : fields_) {
    if (EqualsIgnoreCase(field.name, name)) values.push_back(field.value);
  }
  return values;
}

std::vector<std::string_view> Headers::List(std::string_view name) const {
  std::vector<std::string_view> elements;
  for (const Field& field : fields_) {
    if (!EqualsIgnoreCase(field.name, name)) continue;
    for (const std::string_view part : Split(field.value, ',')) {
      const std::string_view element = TrimSpace(part);
      if (!element.empty()) elements.push_back(element);
    }
  }
  return elements;
}

void Headers::ExtendLast(const char* end) {
  Check(!fields_.empty());
  std::string_view& value = fields_.back().value;
  value = {value.data(), static_cast<std::size_t>(end - value.data())};
}

std::string Unfold(std::string_view value) {
  std::string flat;
  Defects unused;
  while (!value.empty()) {
    const std::string_view line = TrimBlanks(TakeLine(value, unused));
    if (line.empty()) continue;
    if (!flat.empty()) flat += ' ';
    flat += line;
  }
  return flat;
}

}  // namespace stele::http
