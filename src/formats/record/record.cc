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

std::string_view Record::AddMade(std::string_view name, std::string value) {
  made.push_front(std::move(value));
  fields.Add(name, made.front());
  return made.front();
}

}  // namespace stele::record
