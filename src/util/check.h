#pragma once

namespace stele {

// Ends the program with the broken condition and its place. Never returns.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace stele

// States something that only our own mistake can break. Stays on in release builds. Bytes from
// outside never reach a Check: they get an Error.
#define Check(condition) \
  ((condition) ? static_cast<void>(0) : ::stele::CheckFailed(#condition, __FILE__, __LINE__))
