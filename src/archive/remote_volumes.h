#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "archive/archive_layout.h"
#include "archive/remote_file.h"
#include "catalog/page_cache.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::archive {

// The volumes of an archive that are reached by a connector: stores on other machines, in which
// each container is a content. Connects when it has to. Thread-safe. Errors of every call name the
// volume of the archive and the server: kNotFound when the configuration has no such volume, or it
// no such content; kIo and kBusy when a server does not answer; kFull; kInvalid for a connector
// that cannot be used.
class RemoteVolumes {
 public:
  // Borrows `fs`, where the connectors are, for life.
  RemoteVolumes(io::FileSystem& fs, std::shared_ptr<const ArchiveLayout> layout);
  ~RemoteVolumes();

  // Keeps a file and returns its key. Again with the same operation: nothing more.
  // Requires: the source has a file, so that it can be read twice.
  Result<std::string> Put(const std::string& volume, io::Source& file,
                          const std::string& operation);
  // Gives back what Put() took with this operation. Again, or when it is not there: nothing.
  Status Release(const std::string& volume, const std::string& key, const std::string& operation);
  Result<bool> Has(const RemoteFile& file);
  // Fills `out` from `offset` on; fewer bytes only at the end. The bytes are as the server sent
  // them: nobody has looked whether they are those that were stored.
  Result<std::size_t> Read(const RemoteFile& file, std::uint64_t offset, std::span<char> out);

 private:
  struct Connection;

  Result<std::shared_ptr<Connection>> Connect(const std::string& volume);
  Result<std::string> ReadToken(const ArchiveConfig::Volume& volume);
  // From the server. Errors: those of Read().
  Status Fetch(const RemoteFile& file, std::uint64_t offset, std::span<char> out);
  Result<catalog::Page> FetchPage(const RemoteFile& file, std::uint32_t number);
  std::uint64_t CacheNumberOf(const RemoteFile& file);

  io::FileSystem& fs_;
  const std::shared_ptr<const ArchiveLayout> layout_;
  catalog::PageCache cache_;
  std::mutex mutex_;  // of all below
  std::map<std::string, std::shared_ptr<Connection>> connections_;
  std::map<std::string, std::uint64_t> cache_numbers_;  // by volume and key
};

}  // namespace stele::archive
