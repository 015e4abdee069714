#include "archive/unknown_containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "util/ascii.h"

namespace stele::archive {
namespace {

constexpr std::size_t kDigits = 8;  // of a number, as names in volumes have it
constexpr std::string_view kRowsEnding = ".rows";

// Nothing for a name that does not begin with a number.
std::optional<std::uint32_t> NumberIn(std::string_view name) {
  if (name.size() < kDigits) return std::nullopt;
  const auto number = ParseDecimal(name.substr(0, kDigits));
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// Nothing in a directory that is not there.
Result<std::vector<std::string>> NamesIn(io::FileSystem& fs, const std::string& directory) {
  Result<std::vector<std::string>> names = fs.List(directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return std::vector<std::string>();
  return names;
}

}  // namespace

bool UnknownContainer::IsIn(const Holdings& holdings) const {
  if (holdings.Find(number) != nullptr || holdings.IsPurged(number)) return true;
  return holdings.FindOpen(number) != nullptr && path.ends_with(OpenPath(""));
}

Result<std::vector<UnknownContainer>> FindUnknownContainers(io::FileSystem& fs,
                                                            const ArchiveLayout& layout,
                                                            const Holdings& holdings) {
  std::vector<UnknownContainer> unknown;
  for (const ArchiveConfig::Volume& volume : layout.config().volumes) {
    const std::string directory = layout.VolumeDirectory(volume);
    const Result<std::vector<std::string>> names = NamesIn(fs, directory);
    if (!names) return names.error();
    for (const std::string& name : *names) {
      const std::optional<std::uint32_t> number = NumberIn(name);
      if (!number || name.size() != kDigits || holdings.Find(*number) != nullptr) continue;
      const Result<std::vector<std::string>> files = NamesIn(fs, directory + '/' + name);
      if (!files) return files.error();
      for (const std::string& file : *files) {
        UnknownContainer container{*number, fmt::format("{}/{}/{}", directory, name, file)};
        if (file.ends_with(PartPath("")) || container.IsIn(holdings)) continue;
        unknown.push_back(std::move(container));
      }
    }
  }
  return unknown;
}

Error NotInLedger(const ArchiveLayout& layout, const UnknownContainer& container) {
  return {ErrorCode::kOutdated,
          fmt::format("{}: is not in {}, which is older than what is stored: its captures are not "
                      "listed, and takedowns and holds may be forgotten; restore the newer ledger, "
                      "then run stele reindex; where that is lost, move the file out of the "
                      "archive, and import it",
                      container.path, layout.LedgerPath())};
}

Error LedgerIsMissing(const ArchiveLayout& layout) {
  return {ErrorCode::kCorrupt,
          fmt::format("{}: the ledger is missing, or nothing is in it; bring it back from a backup "
                      "or a copy: nothing else knows what belongs to the archive, and what was "
                      "taken down or is held",
                      layout.LedgerPath())};
}

Status CheckNeverHadLedger(io::FileSystem& fs, const ArchiveLayout& layout,
                           const AppliedMark& applied) {
  if (applied.ledger_end > 0) return LedgerIsMissing(layout);
  const auto unknown = FindUnknownContainers(fs, layout, Holdings());
  if (!unknown) return unknown.error();
  if (!unknown->empty()) return LedgerIsMissing(layout);
  // Of a container whose file is elsewhere, these are all there is.
  for (const ArchiveConfig::Volume& volume : layout.config().volumes) {
    const Result<std::vector<std::string>> names = NamesIn(fs, layout.VolumeDirectory(volume));
    if (!names) return names.error();
    const bool has_rows = std::any_of(names->begin(), names->end(), [](const std::string& name) {
      return NumberIn(name) && name.ends_with(kRowsEnding);
    });
    if (has_rows) return LedgerIsMissing(layout);
  }
  return {};
}

}  // namespace stele::archive
