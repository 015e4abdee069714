#pragma once

#include "archive/text_diff.h"

namespace stele::archive::testing {

// The older text with the edits made, which should be the newer one.
inline TextLines Edited(const TextLines& before, const TextLines& after,
                        const std::vector<LineEdit>& edits) {
  TextLines out;
  std::size_t at = 0;
  for (const LineEdit& edit : edits) {
    out.insert(out.end(), before.begin() + static_cast<std::ptrdiff_t>(at),
               before.begin() + static_cast<std::ptrdiff_t>(edit.before_begin));
    out.insert(out.end(), after.begin() + static_cast<std::ptrdiff_t>(edit.after_begin),
               after.begin() + static_cast<std::ptrdiff_t>(edit.after_end));
    at = edit.before_end;
  }
  out.insert(out.end(), before.begin() + static_cast<std::ptrdiff_t>(at), before.end());
  return out;
}

}  // namespace stele::archive::testing
