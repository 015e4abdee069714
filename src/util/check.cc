#include "util/check.h"

#include <cstdio>
#include <cstdlib>

namespace stele {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "stele: internal error at %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace stele
