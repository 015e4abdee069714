#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "io/clock.h"
#include "io/posix_file_system.h"
#include "io/random.h"
#include "store/container_volume.h"
#include "store/tree_volume.h"

// What the kill test and the program it kills share.
namespace stele::store {

inline constexpr int kKillContents = 60;

// The same for the same number; nothing that shrinks.
inline std::string KillContentOf(int number) {
  io::SeededRandom random(static_cast<std::uint64_t>(number));
  std::string content = fmt::format("content {} ", number);
  for (int i = number * 37 % 3000; i > 0; --i) content += static_cast<char>(random.Next());
  return content;
}

// The machine, and a volume in `directory` of the kind "tree", "container", "buffered_tree" or
// "buffered_container".
struct KillLab {
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;

  Status Create(const std::string& kind, const std::string& directory) {
    const Durability durability =
        kind.starts_with("buffered") ? Durability::kBuffered : Durability::kSynced;
    const std::string path = directory + "/volume";
    return kind.ends_with("tree")
               ? TreeVolume::Create(fs, path, {"tomba", "sha256", 3, 0, durability})
               : ContainerVolume::Create(fs, path, {"tomba", "sha256", 0, durability});
  }

  Result<std::unique_ptr<Volume>> Open(const std::string& kind, const std::string& directory) {
    if (kind.ends_with("tree")) {
      TreeVolume::Options options;
      options.memory_bytes_max = 1000;
      options.log.journal_bytes_max = 20'000;
      options.sync_delay = std::chrono::milliseconds(10);
      auto volume = TreeVolume::Open(fs, directory + "/volume", options);
      if (!volume) return volume.error();
      return std::unique_ptr<Volume>(*std::move(volume));
    }
    auto table = OpenRocksBlockTable(directory + "/table");
    if (!table) return table.error();
    ContainerVolume::Options options;
    options.log.container_bytes_max = 50'000;
    options.log.copied_bytes_max = 1500;
    options.memory_bytes_max = 1000;
    options.sync_delay = std::chrono::milliseconds(10);
    auto volume = ContainerVolume::Open({fs, clock, random}, directory + "/volume",
                                        *std::move(table), options);
    if (!volume) return volume.error();
    return std::unique_ptr<Volume>(*std::move(volume));
  }

  // '+' stores a content, '-' takes a reference back.
  static Status Perform(Volume& volume, char act, int number, const std::string& id) {
    const std::string content = KillContentOf(number);
    const Signature signature = Sha256Signatures().Of(content);
    if (act == '-') return volume.Delete({"tomba", signature, 0}, {"me", id});
    io::MemorySource source(content);
    const Result<Stored> stored = volume.Store(
        {signature, content.size(), StoreMode::kRegular, "text/html", {"me", id}}, source);
    return stored ? Status() : Status(stored.error());
  }
};

}  // namespace stele::store
