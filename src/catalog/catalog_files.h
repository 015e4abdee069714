#pragma once

#include <memory>
#include <string>

#include "catalog/catalog_view.h"
#include "io/file_system.h"
#include "util/result.h"

// How the files of a catalog are found and opened.
namespace stele::catalog {

// Errors: kNotFound when there is no catalog; kCorrupt, naming the file.
Result<Manifest> ReadManifest(io::FileSystem& fs, const std::string& directory);

// Opens what the manifest names; files that `open` (which may be null) has are shared with it.
// Errors: kNotFound when one is missing.
Result<std::shared_ptr<const CatalogFiles>> OpenFiles(io::FileSystem& fs,
                                                      const std::string& directory,
                                                      const Manifest& manifest,
                                                      const CatalogFiles* open, PageCache& cache);

// Removes files of writers that did not finish: those in the directories of a catalog that the
// manifest does not name, and logs before the first.
Status RemoveStrays(io::FileSystem& fs, const std::string& directory, const Manifest& manifest);

}  // namespace stele::catalog
