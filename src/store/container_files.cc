#include "store/container_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kSuffix = ".warc.gz";
constexpr std::string_view kOpenSuffix = ".open";
constexpr std::size_t kDigits = 8;

}  // namespace

std::optional<ContainerName> ContainerName::Parse(std::string_view name) {
  ContainerName parsed;
  parsed.sealed = !name.ends_with(kOpenSuffix);
  if (!parsed.sealed) name.remove_suffix(kOpenSuffix.size());
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const std::optional<std::uint64_t> serial = ParseDecimal(name);
  const bool padded = name.size() == kDigits || (name.size() > kDigits && name.front() != '0');
  if (!serial || *serial == 0 || !padded) return std::nullopt;
  parsed.serial = *serial;
  return parsed;
}

std::string ContainerName::Text() const {
  return fmt::format("{:0{}}{}{}", serial, kDigits, kSuffix, sealed ? "" : kOpenSuffix);
}

std::string ContainerFiles::PathOf(const ContainerName& name) const {
  return directory_ + "/" + name.Text();
}

std::string ContainerFiles::TornPathOf(std::uint64_t serial, int number) const {
  const std::string path = PathOf({serial, true}) + ".torn";
  return number == 0 ? path : fmt::format("{}.{}", path, number);
}

Result<std::vector<ContainerName>> ContainerFiles::List() {
  const Result<std::vector<std::string>> names = fs_.List(directory_);
  if (!names) return names.error();
  std::vector<ContainerName> containers;
  for (const std::string& name : *names) {
    if (const auto parsed = ContainerName::Parse(name)) containers.push_back(*parsed);
  }
  std::sort(containers.begin(), containers.end(), [](const auto& a, const auto& b) {
    return a.serial != b.serial ? a.serial < b.serial : a.sealed && !b.sealed;
  });
  const auto same = [](const auto& a, const auto& b) { return a.serial == b.serial; };
  containers.erase(std::unique(containers.begin(), containers.end(), same), containers.end());
  return containers;
}

Result<std::shared_ptr<const io::ReadableFile>> ContainerFiles::Open(std::uint64_t serial) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const OpenFile& file) { return file.serial == serial; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return found->file;
  }
  // It may be sealed between the two first attempts.
  for (const bool sealed : {true, false, true}) {
    Result<std::unique_ptr<io::ReadableFile>> file = fs_.OpenForReading(PathOf({serial, sealed}));
    if (!file && file.error().code == ErrorCode::kNotFound) continue;
    if (!file) return file.error();
    open_.push_front({serial, *std::move(file)});
    if (open_.size() > kOpenFilesMax) open_.pop_back();
    return open_.front().file;
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no container {}", PathOf({serial, true}))};
}

Status ContainerFiles::Remove(std::uint64_t serial) {
  {
    const std::lock_guard lock(mutex_);
    open_.remove_if([&](const OpenFile& file) { return file.serial == serial; });
    const Status removed = fs_.Remove(PathOf({serial, true}));
    if (!removed) return removed;
  }
  return fs_.SyncDirectory(directory_);
}

void ContainerFiles::Forget() {
  const std::lock_guard lock(mutex_);
  open_.clear();
}

Status CopyRange(io::FileSystem& fs, const io::ReadableFile& from, std::uint64_t begin,
                 std::uint64_t end, const std::string& to) {
  auto file = fs.Create(to);
  if (!file) return file.error();
  std::string piece(1 << 20, '\0');
  while (begin < end) {
    const std::uint64_t want = std::min<std::uint64_t>(piece.size(), end - begin);
    const Result<std::size_t> read = from.ReadAt(begin, std::span(piece.data(), want));
    if (!read) return read.error();
    if (*read == 0) return Error{ErrorCode::kIo, fmt::format("a file became shorter: {}", to)};
    const Status written = (*file)->Append(std::string_view(piece).substr(0, *read));
    if (!written) return written;
    begin += *read;
  }
  const Status synced = (*file)->Sync();
  const Status closed = (*file)->Close();
  return synced ? closed : synced;
}

Result<std::size_t> FilePrefix::ReadAt(std::uint64_t offset, std::span<char> out) const {
  if (offset >= size_) return std::size_t{0};
  const std::uint64_t left = size_ - offset;
  return file_->ReadAt(offset, out.first(std::min<std::uint64_t>(out.size(), left)));
}

}  // namespace stele::store
