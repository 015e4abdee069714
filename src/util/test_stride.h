#pragma once

namespace stele {

// For tests only. Loops over every failing operation or many power cuts take minutes under a
// sanitizer: there they visit each kTestStride-th case, and every one where there is none.
#ifdef STELE_SANITIZED
inline constexpr int kTestStride = 5;
#else
inline constexpr int kTestStride = 1;
#endif

}  // namespace stele
