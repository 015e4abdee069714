#include "store/local_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/migrate.h"
#include "store/rehome.h"

namespace stele::store {
namespace {

constexpr int kContainerLevel = 6;

template <typename Kind>
Result<std::unique_ptr<Volume>> AsVolume(Result<std::unique_ptr<Kind>> opened) {
  if (!opened) return opened.error();
  return std::unique_ptr<Volume>(*std::move(opened));
}

// The table may be deleted at any time; the containers are what counts.
Result<std::unique_ptr<Volume>> OpenContainers(const LocalEnvironment& environment,
                                               const std::string& path,
                                               const LocalStoreOptions& options) {
  Result<std::unique_ptr<BlockTable>> table = options.open_table(path + "/table");
  if (!table) return table.error();
  return AsVolume(ContainerVolume::Open(environment, path, *std::move(table), options.container));
}

// Takes over the table in the file, when there is one. Containers have gzip for every codec.
Status ReadCompression(io::FileSystem& fs, const std::string& file, LocalStoreOptions& options) {
  const Result<std::string> text = io::ReadFile(fs, file);
  if (!text && text.error().code == ErrorCode::kNotFound) return {};
  if (!text) return text.error();
  const Result<CompressionTable> table = CompressionTable::Parse(*text);
  if (!table) {
    return Error{table.error().code, fmt::format("{}: {}", file, table.error().text)};
  }
  options.tree.compression = *table;
  std::vector<CompressionTable::Rule> rules = table->rules();
  for (CompressionTable::Rule& rule : rules) {
    Compression& compression = rule.compression;
    if (compression.codec == "gzip" || compression.codec == "identity") continue;
    compression = {"gzip", kContainerLevel};
  }
  options.container.compression = CompressionTable(std::move(rules));
  return {};
}

// The volumes in `directory`, by their names.
Result<std::vector<VolumeDescription>> Describe(io::FileSystem& fs, const std::string& directory,
                                                std::vector<Error>& failures) {
  std::vector<VolumeDescription> found;
  const Result<std::vector<std::string>> names = fs.List(directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return found;
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!IsVolumeName(name)) continue;
    Result<VolumeDescription> description = ReadVolumeFile(fs, directory + '/' + name);
    if (!description && description.error().code == ErrorCode::kNotFound) continue;
    if (description && description->name != name) {
      description = Error{ErrorCode::kInvalid, fmt::format("the volume in {}/{} is called {}",
                                                           directory, name, description->name)};
    }
    if (description) {
      found.push_back(*std::move(description));
    } else {
      failures.push_back(description.error());
    }
  }
  return found;
}

Result<std::unique_ptr<Volume>> OpenPlainVolume(const LocalEnvironment& environment,
                                                const std::string& directory,
                                                const std::string& name,
                                                LocalStoreOptions options) {
  const std::string path = directory + '/' + name;
  const Result<VolumeDescription> description = ReadVolumeFile(environment.fs, path);
  if (!description) return description.error();
  const Status ruled = ReadCompression(environment.fs, directory + "/compression", options);
  if (!ruled) return ruled.error();
  if (description->kind == VolumeKind::kContainer) {
    return OpenContainers(environment, path, options);
  }
  return AsVolume(TreeVolume::Open(environment.fs, path, options.tree));
}

// The composition that the members agree upon: the newest that one of them knows, with the volumes
// that have been added to the directory since. Those of an instance with a connector are as it
// says.
Membership Agree(const std::vector<Membership>& known, const std::vector<std::string>& names,
                 const std::string& signature, Placement placement) {
  Membership newest;
  newest.composition.placement = placement;
  newest.composition.signature = signature;
  for (const Membership& membership : known) {
    if (membership.composition.epoch > newest.composition.epoch) newest = membership;
  }
  if (!newest.connector.empty()) return newest;
  std::vector<std::string>& volumes = newest.composition.volumes;
  const std::size_t before = volumes.size();
  for (const std::string& name : names) {
    if (std::find(volumes.begin(), volumes.end(), name) == volumes.end()) volumes.push_back(name);
  }
  if (volumes.size() > before) ++newest.composition.epoch;
  return newest;
}

// A store whose volumes are all new and empty needs no telling.
Status JoinMember(MemberVolume& member, const Membership& agreed) {
  const bool founding = agreed.composition.epoch == 1;
  const Status joined = member.Join(agreed.composition, agreed.connector, founding);
  if (joined || !founding) return joined;
  return member.Join(agreed.composition, agreed.connector, false);
}

}  // namespace

Result<std::unique_ptr<MemberVolume>> OpenLocalVolume(const LocalEnvironment& environment,
                                                      const std::string& directory,
                                                      const std::string& name,
                                                      const LocalStoreOptions& options) {
  Result<std::unique_ptr<Volume>> volume = OpenPlainVolume(environment, directory, name, options);
  if (!volume) return volume.error();
  const std::string path = directory + '/' + name;
  Result<std::unique_ptr<BlockTable>> table = options.open_directory(path + "/directory");
  if (!table) return table.error();
  Result<std::unique_ptr<Member>> member =
      Member::Open(environment.fs, path, *std::move(volume), *std::move(table), {});
  if (!member) return member.error();
  return std::unique_ptr<MemberVolume>(*std::move(member));
}

Result<LocalMembers> OpenLocalMembers(const LocalEnvironment& environment,
                                      const std::string& directory,
                                      const LocalStoreOptions& options) {
  LocalMembers opened;
  const auto described = Describe(environment.fs, directory, opened.failures);
  if (!described) return described.error();
  for (const VolumeDescription& description : *described) {
    if (description.signature != described->front().signature) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("the volumes in {} have different signatures", directory)};
    }
    opened.names.push_back(description.name);
    auto signature = SignatureOf(description, options.tree.signature);
    Result<std::unique_ptr<MemberVolume>> member =
        signature ? OpenLocalVolume(environment, directory, description.name, options)
                  : signature.error();
    if (!member) {
      opened.failures.push_back(member.error());
      continue;
    }
    opened.signature = *std::move(signature);
    opened.members.push_back(*std::move(member));
  }
  if (!opened.members.empty()) return opened;
  if (!opened.failures.empty()) return opened.failures.front();
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no volume in {}; make one with: stele store add-volume "
                           "--store {} NAME",
                           directory, directory)};
}

Result<LocalStore> OpenLocalStore(const LocalEnvironment& environment, const std::string& directory,
                                  const LocalStoreOptions& options) {
  Result<LocalMembers> opened = OpenLocalMembers(environment, directory, options);
  if (!opened) return opened.error();
  LocalStore store;
  store.failures = std::move(opened->failures);
  std::vector<Membership> known;
  for (const auto& member : opened->members) {
    Result<Membership> membership = member->GetMembership();
    if (!membership) return membership.error();
    known.push_back(*std::move(membership));
  }
  const Membership agreed =
      Agree(known, opened->names, std::string(opened->signature->name()), options.placement);
  Instance::Options instance_options;
  instance_options.signature = opened->signature;
  instance_options.fs = &environment.fs;
  instance_options.temporary_directory =
      fmt::format("{}/{}/temporary", directory, opened->members.front()->name());
  std::vector<std::unique_ptr<MemberVolume>> members;
  for (auto& member : opened->members) {
    const Status joined = JoinMember(*member, agreed);
    if (joined) {
      members.push_back(std::move(member));
    } else {
      store.failures.push_back(joined.error());
    }
  }
  if (members.empty()) return store.failures.front();
  store.instance = std::make_unique<Instance>(
      Instance::Composed{agreed.composition, agreed.connector, std::move(members)},
      std::move(instance_options));
  // Where this fails, contents are found by filters until the next opening.
  Mover mover(*store.instance, environment.random);
  RehomeOptions rehoming;
  rehoming.merge = [&](const Signature& signature, MemberVolume& stand_in, MemberVolume& home) {
    return mover.Merge(signature, stand_in, home);
  };
  const Result<Rehomed> rehomed = Rehome(*store.instance, rehoming);
  if (!rehomed) store.failures.push_back(rehomed.error());
  return store;
}

Status AddLocalVolume(io::FileSystem& fs, const std::string& directory,
                      const VolumeDescription& description) {
  if (!IsVolumeName(description.name)) {
    return Error{ErrorCode::kInvalid, fmt::format("'{}' is no name for a volume: 1 to 64 of a-z, "
                                                  "0-9, - and _",
                                                  description.name)};
  }
  Status status = fs.MakeDirectory(directory);
  if (status) status = fs.SyncDirectory(io::ParentDirectory(directory));
  if (!status) return status;
  status = TakeVolumeName(fs, directory, description.name);
  if (!status) return status;
  const std::string path = directory + '/' + description.name;
  if (description.kind == VolumeKind::kContainer) {
    return ContainerVolume::Create(fs, path,
                                   {description.name, description.signature,
                                    description.capacity_bytes, description.durability});
  }
  return TreeVolume::Create(fs, path,
                            {description.name, description.signature, description.depth,
                             description.capacity_bytes, description.durability});
}

// What the volume held back is synced when it is closed.
Status SetLocalDurability(const LocalEnvironment& environment, const std::string& directory,
                          const std::string& name, Durability durability,
                          const LocalStoreOptions& options) {
  const std::string path = directory + '/' + name;
  {
    const Result<std::unique_ptr<Volume>> volume =
        OpenPlainVolume(environment, directory, name, options);
    if (!volume) return volume.error();
  }
  const Result<std::unique_ptr<io::FileLock>> lock = environment.fs.Lock(path + "/lock");
  if (!lock) return lock.error();
  Result<VolumeDescription> description = ReadVolumeFile(environment.fs, path);
  if (!description) return description.error();
  if (description->durability == durability) return {};
  const Status unmarked = SyncedMark::Remove(environment.fs, path);
  if (!unmarked) return unmarked;
  description->durability = durability;
  return ReplaceVolumeFile(environment.fs, path, *description);
}

}  // namespace stele::store
