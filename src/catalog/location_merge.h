#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "catalog/location_cursor.h"

namespace stele::catalog {

// Several cursors as one, with what several have only once. Entries of hidden batches are left out.
class MergedLocations final : public LocationCursor {
 public:
  // `hidden_batches` is sorted.
  void Add(std::unique_ptr<LocationCursor> cursor, std::vector<std::uint32_t> hidden_batches = {});

  Move Seek(const LocationEntry& at) override;
  Move Next() override;
  Move SeekBack(const LocationEntry& at) override;

 private:
  struct Source {
    std::unique_ptr<LocationCursor> cursor;
    std::vector<std::uint32_t> hidden;
    const LocationEntry* entry = nullptr;  // where it stands

    bool Hides(const LocationEntry& at) const;
    // On to an entry that is not hidden, beginning with where the move led.
    Status Settle(Move move);
  };

  Move Front();
  static bool Behind(const Source* a, const Source* b);

  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Source*> heap_;  // those that stand at an entry, the first in front
};

}  // namespace stele::catalog
