#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "formats/crawl_log/duplicate.h"
#include "formats/crawl_log/line.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::crawl_log;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  LineReader reader(text);
  while (std::optional<stele::Result<Line>> line = reader.Next()) {
    if (!line->ok()) continue;
    const std::string written = FormatLine(**line);
    for (char c : written) Check(c != '\n' && c != '\r');
    const stele::Result<Line> again = ParseLine(written);
    Check(again.ok());
    Check(FormatLine(*again) == written);
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
    });
    if (plain) Check(*again == **line && IsDuplicate(*again) == IsDuplicate(**line));
    std::size_t annotated = 0;
    for (std::string_view annotation : again->AnnotationList()) annotated += annotation.size();
    Check(annotated <= again->annotations.size());
  }
  Check(reader.consumed() == size);
  return 0;
}
