#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "crawl/crawl_notes.h"

// Notes of a frontier as a damaged disk may leave them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::crawl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const LastFinished last = LastFinished::Decode(bytes);
  if (!(LastFinished::Decode(last.Encode()) == last)) std::abort();
  const CutOffs cut_offs = CutOffs::Decode(bytes);
  if (!(CutOffs::Decode(cut_offs.Encode()) == cut_offs)) std::abort();
  const auto cookies = DecodeCookies(bytes);
  if (DecodeCookies(EncodeCookies(cookies)) != cookies) std::abort();
  if (const auto limits = ChangedLimits::Decode(bytes)) {
    if (ChangedLimits::Decode(limits->Encode()) != limits) std::abort();
  }
  return 0;
}
