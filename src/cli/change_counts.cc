#include "cli/change_counts.h"

#include <fmt/format.h>

#include "cli/amount.h"

namespace stele::cli {

using archive::ChangeState;

void ChangeCounts::Add(const archive::Change& change) {
  ++counts_[static_cast<std::size_t>(change.state)];
  if (change.state == ChangeState::kTextChanged && !change.has_text) ++files_changed_;
}

std::string ChangeCounts::Text() const {
  const std::uint64_t texts = Of(ChangeState::kTextChanged) - files_changed_;
  std::string changed = Count(texts, "text") + " changed";
  if (files_changed_ > 0) changed += fmt::format(", {} changed", Count(files_changed_, "file"));
  return fmt::format("{} identical, {} same text, {}, {} new", Of(ChangeState::kIdentical),
                     Of(ChangeState::kSameText), changed, Of(ChangeState::kNew));
}

}  // namespace stele::cli
