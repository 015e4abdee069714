#include "archive/warcinfo_text.h"

#include <fmt/format.h>

#include <utility>

#include "formats/warc/old_fields.h"

namespace stele::archive {

std::string WarcinfoLine(std::string_view name, std::string_view value) {
  return fmt::format("{}: {}\r\n", name, warc::FieldText(value));
}

std::string WarcinfoText(const ArchiveConfig& config) {
  std::string text =
      "software: Stele\r\nformat: WARC File Format 1.1\r\nconformsTo: "
      "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n";
  for (const auto& [name, value] :
       {std::pair("isPartOf", config.title), std::pair("description", config.description),
        std::pair("operator", config.creator), std::pair("rights", config.rights),
        std::pair("http-header-from", config.contact), std::pair("language", config.language)}) {
    if (!value.empty()) text += WarcinfoLine(name, value);
  }
  return text;
}

}  // namespace stele::archive
