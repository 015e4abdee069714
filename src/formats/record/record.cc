#include "formats/record/record.h"

#include <array>

#include "util/ascii.h"

namespace stele::record {
namespace {

constexpr std::array<std::string_view, 9> kTypeNames = {"warcinfo",   "response",     "resource",
                                                        "request",    "metadata",     "revisit",
                                                        "conversion", "continuation", "unknown"};

}  // namespace

std::string_view RecordTypeName(RecordType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

RecordType RecordTypeByName(std::string_view name) {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (EqualsIgnoreCase(kTypeNames[i], name)) return static_cast<RecordType>(i);
  }
  return RecordType::kUnknown;
}

std::optional<std::string_view> Fields::Find(std::string_view name) const {
  for (const Field& field : list_) {
    if (EqualsIgnoreCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Fields::FindAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Field& field : list_) {
    if (EqualsIgnoreCase(field.name, name)) values.push_back(field.value);
  }
  return values;
}

void Fields::ExtendLast(std::string_view line) {
  std::string_view& value = list_.back().value;
  value = {value.data(), static_cast<std::size_t>(line.data() + line.size() - value.data())};
}

}  // namespace stele::record
