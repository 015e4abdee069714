#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "io/file_system.h"
#include "store/durability.h"
#include "store/signature.h"
#include "store/volume.h"

// The file `volume` in the directory of every volume: what it is, in a few lines of text.
//
//   STELE-TREE-VOLUME 1          or STELE-CONTAINER-VOLUME 1
//   name tomba-1
//   signature sha256
//   depth 3                      tree volumes only
//   capacity 0
//   state writable
//   durability buffered          only where it is not synced
namespace stele::store {

enum class VolumeKind : std::uint8_t { kTree, kContainer };

struct VolumeDescription {
  VolumeKind kind = VolumeKind::kTree;
  std::string name = {};
  std::string signature = "sha256";
  int depth = 3;                     // of a tree
  std::uint64_t capacity_bytes = 0;  // 0: no limit
  VolumeState state = VolumeState::kWritable;
  Durability durability = Durability::kSynced;

  friend bool operator==(const VolumeDescription&, const VolumeDescription&) = default;
};

// Makes `directory`, whose parent exists, its subdirectories `parts`, what `prepare` adds, and last
// the file: with it the volume is there. Errors: kInvalid for what no volume can be, or when there
// is one already.
Status CreateVolumeFile(
    io::FileSystem& fs, const std::string& directory, const VolumeDescription& description,
    std::initializer_list<const char*> parts,
    const std::function<Status()>& prepare = [] { return Status(); });

// Errors: kNotFound when there is no volume, kCorrupt when the file is not what is written here.
Result<VolumeDescription> ReadVolumeFile(io::FileSystem& fs, const std::string& directory);

// Atomic and durable.
Status ReplaceVolumeFile(io::FileSystem& fs, const std::string& directory,
                         const VolumeDescription& description);

// The function that the description names, or `given` when it is that one.
// Errors: kInvalid when it is not known or not the one that was given.
Result<std::shared_ptr<const SignatureFunction>> SignatureOf(
    const VolumeDescription& description, std::shared_ptr<const SignatureFunction> given);

// Keys lead to volumes by their names, for good: the file `names` of a store has all that were ever
// given, one to a line. A name that stands there is taken, also when its volume is gone or was
// never finished. Durable. Errors: kInvalid for a name that is taken.
Status TakeVolumeName(io::FileSystem& fs, const std::string& store_directory,
                      const std::string& name);

}  // namespace stele::store
