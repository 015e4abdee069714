#include "store/synced_mark.h"

#include <fmt/format.h>

#include "util/ascii.h"
#include "util/rabin.h"

namespace stele::store {
namespace {

std::string PathIn(const std::string& directory) { return directory + "/synced"; }

std::string Format(const SyncedMark::Position& position) {
  std::string line = fmt::format("{:010} {:020}", position.file, position.bytes);
  line += fmt::format(" {:016X}\n", RabinFingerprint(line));
  return line;
}

SyncedMark::Position Parse(std::string_view line) {
  const std::vector<std::string_view> fields = Split(line, ' ');
  if (fields.size() != 3) return {};
  const SyncedMark::Position position{ParseDecimal(fields[0]).value_or(0),
                                      ParseDecimal(fields[1]).value_or(0)};
  return Format(position) == line ? position : SyncedMark::Position();
}

}  // namespace

Result<std::unique_ptr<SyncedMark>> SyncedMark::Open(io::FileSystem& fs,
                                                     const std::string& directory) {
  const std::string path = PathIn(directory);
  const Result<std::string> content = io::ReadFile(fs, path);
  if (!content && content.error().code != ErrorCode::kNotFound) return content.error();
  const Position found = content ? Parse(*content) : Position();
  if (!content || content->size() != Format(found).size()) {
    const Status made = io::ReplaceFile(fs, path, Format(found));
    if (!made) return made.error();
  }
  Result<std::unique_ptr<io::UpdatableFile>> file = fs.OpenForUpdating(path);
  if (!file) return file.error();
  return std::unique_ptr<SyncedMark>(new SyncedMark(*std::move(file), found));
}

Status SyncedMark::Set(const Position& position) {
  const Status written = file_->WriteAt(0, Format(position));
  return written ? file_->Sync() : written;
}

Status SyncedMark::Remove(io::FileSystem& fs, const std::string& directory) {
  const Status removed = fs.Remove(PathIn(directory));
  if (!removed && removed.error().code != ErrorCode::kNotFound) return removed;
  return fs.SyncDirectory(directory);
}

}  // namespace stele::store
