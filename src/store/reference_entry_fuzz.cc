#include <cstddef>
#include <cstdint>

#include "store/reference_set.h"
#include "util/check.h"

// Every line that is read is written again byte for byte, and no journal leads to a negative count.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view journal(reinterpret_cast<const char*>(data), size);
  const stele::store::ReferenceEntries read = stele::store::ParseReferenceEntries(journal);
  stele::store::ReferenceSet set;
  for (const stele::store::ReferenceEntry& entry : read.entries) {
    Check(journal.find(stele::store::FormatReferenceEntry(entry)) != std::string_view::npos);
    set.Add(entry);
  }
  Check(set.Live().size() <= read.entries.size());
  for (const std::uint32_t overflow : set.Live()) {
    Check(set.Count(overflow) <= read.entries.size());
  }
  Check(set.FreeOverflow() <= read.entries.size());
  return 0;
}
