#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "io/stream.h"
#include "store/volume.h"

// Takes back the references of one owner that it does not claim any more, in two steps, so that an
// application can go on storing meanwhile:
//
//   1. ListForSweep() writes down what the owner holds at this moment.
//   2. The application then writes down what it claims: everything it has stored by now.
//   3. Sweep() takes back what is in the first list and not in the second. References that were
//      made after the first list began are never touched.
//
// Both lists are text, sorted by signature and number, and are read as streams: memory is flat.
namespace stele::store {

// Writes one line for each block that the owner holds: "BLOCK REFERENCES RELEASES", where BLOCK is
// the key without its volume. Errors: those of the volume and of `list`.
Status ListForSweep(Volume& volume, const std::string& owner, io::Sink& list);

struct SweepRequest {
  std::string owner;
  // The same for each attempt at one sweep, and for no other: 1 to 32 of the characters of
  // operation ids. What an earlier attempt took back is not taken back twice.
  std::string id;
};

struct Swept {
  std::uint64_t kept_blocks = 0;
  std::uint64_t released_blocks = 0;
  std::uint64_t released_references = 0;  // by this attempt or by one before it
};

// `listed` is what ListForSweep() wrote; `kept` has one BLOCK in each line. Releases that the owner
// made itself since the list began count as taken back.
// Errors: kInvalid for a list that is not sorted or cannot be read, naming it and its line, and for
// a request that breaks the rules; those of the volume. What has been taken back until then stays
// so, and the sweep can be repeated.
Result<Swept> Sweep(Volume& volume, const SweepRequest& request, io::Source& listed,
                    io::Source& kept);

}  // namespace stele::store
