#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "archive/changes.h"

namespace stele::cli {

// How many URLs changed how between two states of an archive.
class ChangeCounts {
 public:
  void Add(const archive::Change& change);
  std::uint64_t Of(archive::ChangeState state) const {
    return counts_[static_cast<std::size_t>(state)];
  }
  // "590 identical, 14 same text, 7 texts changed, 4 new"; with "2 files changed" behind the texts
  // where that is so: files are what has no text.
  std::string Text() const;

 private:
  std::array<std::uint64_t, archive::kChangeStates> counts_ = {};
  std::uint64_t files_changed_ = 0;
};

}  // namespace stele::cli
