#include "archive/archive_layout.h"

#include <fmt/format.h>

#include "archive/remote_file.h"

namespace stele::archive {

std::string ArchiveLayout::ConfigPath(const std::string& directory) {
  return directory + "/archive.toml";
}
std::string ArchiveLayout::LockPath() const { return directory_ + "/lock"; }
std::string ArchiveLayout::WriterPath() const { return directory_ + "/writer"; }
std::string ArchiveLayout::LedgerPath() const { return directory_ + "/ledger/ledger.warc"; }
std::string ArchiveLayout::CatalogDirectory() const { return directory_ + "/catalog"; }
std::string ArchiveLayout::AppliedPath() const { return CatalogDirectory() + "/applied"; }
std::string ArchiveLayout::NewCatalogDirectory() const { return CatalogDirectory() + "/new"; }

const ArchiveConfig::Volume* ArchiveLayout::FindVolume(const std::string& name) const {
  for (const ArchiveConfig::Volume& volume : config_.volumes) {
    if (volume.name == name) return &volume;
  }
  return nullptr;
}

std::string ArchiveLayout::VolumeDirectory(const ArchiveConfig::Volume& volume) const {
  return volume.path.empty() ? directory_ + "/volumes/" + volume.name : volume.path;
}

std::string ArchiveLayout::PathInArchive(const std::string& path) const {
  return path.starts_with('/') ? path : directory_ + '/' + path;
}

bool ArchiveLayout::Waits(const Container& container) const {
  const ArchiveConfig::Volume* volume = FindVolume(container.volume);
  return volume != nullptr && volume->is_remote() && container.key.empty() &&
         container.path.empty();
}

Result<std::string> ArchiveLayout::NumberPath(const std::string& volume,
                                              std::uint32_t number) const {
  const ArchiveConfig::Volume* found = FindVolume(volume);
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("volume {} of container {} is not in {}; add it again", volume, number,
                             ConfigPath(directory_))};
  }
  return fmt::format("{}/{:08}", VolumeDirectory(*found), number);
}

Result<std::string> ArchiveLayout::ContainerDirectory(const std::string& volume,
                                                      std::uint32_t number) const {
  return NumberPath(volume, number);
}

Result<std::string> ArchiveLayout::ContainerPath(const Container& container) const {
  if (!container.path.empty()) return container.path;
  if (!container.key.empty()) {
    return RemoteFile{container.volume, container.key, container.bytes, container.name}.Path();
  }
  Result<std::string> folder = NumberPath(container.volume, container.number);
  if (!folder) return folder.error();
  return *folder + '/' + container.name;
}

Result<std::string> ArchiveLayout::RowsPath(const std::string& volume, std::uint32_t number) const {
  Result<std::string> path = NumberPath(volume, number);
  if (!path) return path.error();
  return *path + ".rows";
}

Result<std::string> ArchiveLayout::TornPath(const std::string& volume, std::uint32_t number) const {
  Result<std::string> path = NumberPath(volume, number);
  if (!path) return path.error();
  return *path + ".torn";
}

std::string PartPath(const std::string& path) { return path + ".part"; }
std::string OpenPath(const std::string& path) { return path + ".open"; }

}  // namespace stele::archive
