#include "archive/left_out_part.h"

#include <algorithm>

#include "archive/holdings.h"

namespace stele::archive {

std::string LeftOutPart::Text() const { return sha256 + ' ' + name; }

std::optional<LeftOutPart> LeftOutPart::Parse(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == text.size()) {
    return std::nullopt;
  }
  return LeftOutPart{std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

std::set<std::string> Container::NamesLeftOut() const {
  std::set<std::string> names;
  for (const LeftOutPart& part : left_out) names.insert(part.name);
  return names;
}

bool LeavesOutAllThatIsHere(const Holdings& holdings, const Container& container) {
  const auto is_left_out = [&](const std::string& sha256) {
    const auto has =
        std::count(container.part_sha256s.begin(), container.part_sha256s.end(), sha256);
    const auto left_out =
        std::count_if(container.left_out.begin(), container.left_out.end(),
                      [&](const LeftOutPart& part) { return part.sha256 == sha256; });
    return left_out == has;
  };
  return std::all_of(container.part_sha256s.begin(), container.part_sha256s.end(),
                     [&](const std::string& sha256) {
                       return holdings.FindBySha256(sha256) == nullptr || is_left_out(sha256);
                     });
}

bool HoldsPurgedPart(const Holdings& holdings, const Container& container) {
  return std::any_of(container.left_out.begin(), container.left_out.end(),
                     [&](const LeftOutPart& part) { return holdings.WasPurged(part.sha256); });
}

}  // namespace stele::archive
