#pragma once

#include <string>

#include "archive/holdings.h"

namespace stele::cli {

// "run 3 may repeat originals that are kept elsewhere: march.index, 120 documents (national
// library)"
std::string DependencyText(const archive::Dependency& dependency);
// One object.
std::string DependencyJson(const archive::Dependency& dependency);

}  // namespace stele::cli
