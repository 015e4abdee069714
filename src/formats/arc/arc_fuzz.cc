#include <cstddef>
#include <cstdint>

#include "formats/arc/arc_grammar.h"
#include "formats/arc/arc_line.h"
#include "formats/record/fuzz_reading.h"

namespace {

bool IsIn(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void CheckLine(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::optional<stele::arc::ArcLine> parsed = stele::arc::ParseArcLine(line);
  if (!parsed) return;
  Check(!parsed->url.empty() && IsIn(parsed->url, line) && IsIn(parsed->ip, line));
  Check(IsIn(parsed->mime, line) && IsIn(parsed->filename, line));
  Check(parsed->date_is_digits || parsed->ip_is_valid);
}

// The search goes forward and stays inside.
void CheckSearch(std::string_view bytes) {
  const stele::arc::ArcGrammar grammar;
  for (std::size_t at = 0, count = 0; at < bytes.size() && count < 64; ++at, ++count) {
    const std::size_t found = grammar.FindCandidate(bytes, at);
    Check(found >= at && found <= bytes.size());
    if (found > at) at = found;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckLine(bytes);
  CheckSearch(bytes);
  stele::record::CheckReadings<stele::arc::ArcGrammar>(bytes);
  return 0;
}
