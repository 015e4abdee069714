#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace stele::cli {

// The files that a person means: each of `paths`, and of a directory the files below it, in the
// order of their names. Links to directories are not followed, and what is neither file nor
// directory is left out. A pattern that no shell expanded, "crawl-*.warc.gz", stands for what it
// matches. "-" stays what it is. Errors: kIo, kNotFound, naming the path.
Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths);

// By the end of the name, as web servers do it; empty when it says nothing.
std::string_view MediaTypeOf(std::string_view path);

}  // namespace stele::cli
