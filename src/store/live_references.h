#pragma once

#include <string_view>
#include <vector>

#include "store/volume.h"

namespace stele::store {

// The references of one owner to a block that have not been released, for owners that release a
// reference under the id that it was made with.
Result<std::vector<Operation>> LiveReferences(Volume& volume, const ContentKey& key,
                                              std::string_view owner);

}  // namespace stele::store
