#include <cstddef>
#include <cstdint>

#include "catalog/location_page.h"
#include "catalog/manifest.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

// Whatever the bytes are, moves end.
void ReadPage(std::string_view bytes, const SerialClock& clock) {
  LocationPageCursor cursor(clock);
  if (!cursor.Open(bytes)) return;
  std::size_t entries = 0;
  for (LocationCursor::Move move = cursor.First(); move && *move != nullptr; move = cursor.Next()) {
    Check(++entries <= bytes.size());
    Check((*move)->key.size() <= kLocationKeyMax);
  }
  static_cast<void>(cursor.Last().ok());
  const LocationEntry at{"org,example)/5", {1000000}, {200405, 7}};
  static_cast<void>(cursor.Seek(at).ok());
  static_cast<void>(cursor.SeekBack(at).ok());
}

// A clock that is read can be written and read again, guesses something for everything, and is one
// to others.
// The bytes behind it are a page.
void ReadClock(std::string_view bytes) {
  ByteReader in(bytes);
  SerialClock clock;
  if (!SerialClock::Take(in, clock)) return;
  std::string again;
  clock.Put(again);
  ByteReader second(again);
  SerialClock same;
  Check(SerialClock::Take(second, same) && second.AtEnd() && same == clock);
  SerialClockBuilder builder;
  builder.Add(clock);
  builder.Add({200405, 7}, {1083369600000});
  static_cast<void>(builder.Build(bytes.size()).Guess(200405, {1083369700000}));
  ReadPage(in.rest(), clock);
}

// A manifest that is read writes itself again.
void ReadManifest(std::string_view bytes) {
  const Result<Manifest> manifest = ParseManifest(bytes);
  if (manifest) Check(FormatManifest(*manifest) == bytes);
}

}  // namespace
}  // namespace stele::catalog

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stele::catalog::ReadPage(bytes, {});
  stele::catalog::ReadClock(bytes);
  stele::catalog::ReadManifest(bytes);
  return 0;
}
