// One line: "stele applied 2 END", where containers are lacking " lacks 2 7", and a checksum.
#include "archive/applied_mark.h"

#include <fmt/format.h>

#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

constexpr std::string_view kHead = "stele applied 2 ";

}  // namespace

std::string FormatAppliedMark(const AppliedMark& mark) {
  std::string text = fmt::format("{}{}", kHead, mark.ledger_end);
  if (!mark.lacks.empty()) text += fmt::format(" lacks {}", fmt::join(mark.lacks, " "));
  return fmt::format("{} {:016x}\n", text, ChecksumOf(text));
}

AppliedMark ParseAppliedMark(std::string_view text) {
  if (!text.starts_with(kHead)) return {};
  const std::vector<std::string_view> words = Split(text.substr(kHead.size()), ' ');
  AppliedMark mark;
  mark.ledger_end = ParseDecimal(words[0]).value_or(0);
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    mark.lacks.insert(static_cast<std::uint32_t>(ParseDecimal(words[i]).value_or(0)));
  }
  // What is read must be what is written: the checksum, the order of words, how numbers look.
  return FormatAppliedMark(mark) == text ? mark : AppliedMark();
}

Result<AppliedMark> ReadAppliedMark(io::FileSystem& fs, const std::string& path) {
  const Result<std::string> text = io::ReadFile(fs, path);
  if (text) return ParseAppliedMark(*text);
  if (text.error().code == ErrorCode::kNotFound) return AppliedMark();
  return text.error();
}

}  // namespace stele::archive
