#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/instance.h"
#include "store/tree_volume.h"

namespace stele::store {

// A directory whose subdirectories are tree volumes, each under its own name, opened as one.
struct LocalStore {
  std::unique_ptr<Instance> instance;
  std::vector<Error> failures;  // of volumes that could not be opened; the others do without them
};

// Borrows `fs` for as long as the store is open.
// Errors: kNotFound when there is no volume in `directory`; kInvalid when volumes have different
// signature functions; the first failure when no volume could be opened.
Result<LocalStore> OpenLocalStore(io::FileSystem& fs, const std::string& directory,
                                  Placement placement, const TreeVolume::Options& options);

// Makes a volume in the store; the directory is made with the first one.
// Errors: as TreeVolume::Create().
Status AddLocalVolume(io::FileSystem& fs, const std::string& directory,
                      const TreeVolume::Shape& shape);

}  // namespace stele::store
