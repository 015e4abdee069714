#pragma once

#include "cli/command.h"

namespace stele::cli {

// `stele user ...`: who may look.
Command UserCommand();

}  // namespace stele::cli
