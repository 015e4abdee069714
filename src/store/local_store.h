#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/container_volume.h"
#include "store/instance.h"
#include "store/member.h"
#include "store/tree_volume.h"
#include "store/volume_file.h"

namespace stele::store {

// A directory whose subdirectories are volumes of any kind, each under its own name, opened as one.
// Where it has a file `compression`, that is the table by which contents are compressed.
struct LocalStore {
  std::unique_ptr<Instance> instance;
  std::vector<Error> failures;  // of volumes that could not be opened; the others do without them
};

struct LocalStoreOptions {
  Placement placement = Placement::kModulo;
  TreeVolume::Options tree = {};
  ContainerVolume::Options container = {};
  // Opens the table of a container volume in a directory that may not exist yet.
  std::function<Result<std::unique_ptr<BlockTable>>(const std::string& directory)> open_table =
      OpenRocksBlockTable;
  // The same for the table of a member's directory, whose writes must be durable.
  std::function<Result<std::unique_ptr<BlockTable>>(const std::string& directory)> open_directory =
      OpenDurableRocksTable;
};

// Borrowed for as long as the store is open. Several threads throw `random` at a time.
using LocalEnvironment = ContainerVolume::Environment;

// Volumes that are new here join the instance, and homes are told of what lies elsewhere.
// Errors: kNotFound when there is no volume in `directory`; kInvalid when volumes have different
// signature functions; the first failure when no volume could be opened, or the table is wrong.
Result<LocalStore> OpenLocalStore(const LocalEnvironment& environment, const std::string& directory,
                                  const LocalStoreOptions& options);

// The same volumes, each for itself: members of whatever instance they belong to, which may reach
// beyond this directory. For servers.
struct LocalMembers {
  std::vector<std::unique_ptr<MemberVolume>> members;
  std::vector<std::string> names;  // also of volumes that could not be opened
  std::vector<Error> failures;
  std::shared_ptr<const SignatureFunction> signature;
};
Result<LocalMembers> OpenLocalMembers(const LocalEnvironment& environment,
                                      const std::string& directory,
                                      const LocalStoreOptions& options);

// One of them. Errors: those of its kind; kCorrupt when its membership or directory is lost.
Result<std::unique_ptr<MemberVolume>> OpenLocalVolume(const LocalEnvironment& environment,
                                                      const std::string& directory,
                                                      const std::string& name,
                                                      const LocalStoreOptions& options);

// Makes a volume in the store; the directory is made with the first one.
// Errors: as CreateVolumeFile() and TakeVolumeName().
Status AddLocalVolume(io::FileSystem& fs, const std::string& directory,
                      const VolumeDescription& description);

// What an acknowledgement of the volume promises from now on. Durable; what it held back until now
// is synced. Errors: those of opening it; kBusy while somebody has it open.
Status SetLocalDurability(const LocalEnvironment& environment, const std::string& directory,
                          const std::string& name, Durability durability,
                          const LocalStoreOptions& options);

}  // namespace stele::store
