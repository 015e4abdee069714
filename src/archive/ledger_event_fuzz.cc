#include <cstdlib>

#include "archive/holdings.h"
#include "archive/ledger_event.h"

// What is read as an event is written as one that reads the same; holdings take any event or refuse
// it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::archive;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto event = ParseLedgerEvent(text);
  if (!event) return 0;
  const auto again = ParseLedgerEvent(FormatLedgerEvent(*event));
  if (!again || !(*again == *event)) std::abort();
  Holdings holdings;
  LedgerEvent run;
  run.what = "run-begin";
  run.Add("run", 1);
  if (!holdings.Apply(run, 1)) std::abort();
  static_cast<void>(holdings.Apply(*event, 2).ok());
  return 0;
}
