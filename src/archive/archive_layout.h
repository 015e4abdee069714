#pragma once

#include <cstdint>
#include <string>

#include "archive/archive_config.h"
#include "archive/holdings.h"

namespace stele::archive {

// Where what lies in the directory of an archive. docs/archive.md.
class ArchiveLayout {
 public:
  ArchiveLayout(std::string directory, ArchiveConfig config)
      : directory_(std::move(directory)), config_(std::move(config)) {}

  const std::string& directory() const { return directory_; }
  const ArchiveConfig& config() const { return config_; }

  static std::string ConfigPath(const std::string& directory);
  std::string LockPath() const;
  std::string WriterPath() const;  // names the process that holds the lock
  std::string LedgerPath() const;
  std::string CatalogDirectory() const;
  // Says up to where in the ledger the catalog has everything.
  std::string AppliedPath() const;
  // Where a catalog is made that takes the place of the one that is there.
  std::string NewCatalogDirectory() const;

  // Null when the configuration has no such volume.
  const ArchiveConfig::Volume* FindVolume(const std::string& name) const;
  std::string VolumeDirectory(const ArchiveConfig::Volume& volume) const;

  // What the configuration calls `path`, which may be one in the archive.
  std::string PathInArchive(const std::string& path) const;

  // Whether it is in the directory of a remote volume and not yet there where it belongs.
  bool Waits(const Container& container) const;

  // Errors: kNotFound when the volume is not in the configuration.
  Result<std::string> ContainerDirectory(const std::string& volume, std::uint32_t number) const;
  // Of one that is on another machine: a path that ContainerFileSystem knows.
  Result<std::string> ContainerPath(const Container& container) const;
  Result<std::string> RowsPath(const std::string& volume, std::uint32_t number) const;
  // What a crash left at the end of a container that grew.
  Result<std::string> TornPath(const std::string& volume, std::uint32_t number) const;

 private:
  Result<std::string> NumberPath(const std::string& volume, std::uint32_t number) const;

  const std::string directory_;
  const ArchiveConfig config_;
};

// The name of a file until the ledger has it.
std::string PartPath(const std::string& path);
// The name of a container's file while it grows; the ledger knows that it does.
std::string OpenPath(const std::string& path);

}  // namespace stele::archive
