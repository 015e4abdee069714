#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "store/composition.h"
#include "util/result.h"

namespace stele::store {

// A volume's place in an instance, as the file `member` in its directory keeps it.
// docs/formats/member.md.
struct Membership {
  // Have the homes been told of what lies here since the epoch began?
  enum class Settled : std::uint8_t {
    kNo,
    kSelf,  // by this member
    kAll,   // by all members: nobody needs to ask anyone but the home
  };

  Composition composition = {};  // epoch 0: of no instance yet, and no volumes
  Settled settled = Settled::kNo;
  std::string connector = {};  // how clients find the members; may be empty

  friend bool operator==(const Membership&, const Membership&) = default;
};

std::string_view SettledName(Membership::Settled settled);  // "no", "self", "all"
std::optional<Membership::Settled> SettledByName(std::string_view name);

// Requires: an epoch above 0, volumes with good names.
std::string FormatMembership(const Membership& membership);
// Errors: kCorrupt for anything else than what FormatMembership() wrote.
Result<Membership> ParseMembership(std::string_view text);

// A missing file is a membership of epoch 0. Errors: kCorrupt, saying what to do; kIo.
Result<Membership> ReadMembership(io::FileSystem& fs, const std::string& volume_directory);
// Atomic and durable.
Status WriteMembership(io::FileSystem& fs, const std::string& volume_directory,
                       const Membership& membership);

}  // namespace stele::store
