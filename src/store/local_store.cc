#include "store/local_store.h"

#include <fmt/format.h>

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

}  // namespace

Result<std::unique_ptr<Volume>> OpenLocalVolume(const LocalEnvironment& environment,
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

Result<LocalStore> OpenLocalStore(const LocalEnvironment& environment, const std::string& directory,
                                  const LocalStoreOptions& options) {
  LocalStore store;
  const auto described = Describe(environment.fs, directory, store.failures);
  if (!described) return described.error();
  Instance::Options instance_options;
  instance_options.placement = options.placement;
  instance_options.fs = &environment.fs;
  std::vector<std::unique_ptr<Volume>> volumes;
  for (const VolumeDescription& description : *described) {
    if (description.signature != described->front().signature) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("the volumes in {} have different signatures", directory)};
    }
    auto signature = SignatureOf(description, options.tree.signature);
    Result<std::unique_ptr<Volume>> volume =
        signature ? OpenLocalVolume(environment, directory, description.name, options)
                  : signature.error();
    if (!volume) {
      store.failures.push_back(volume.error());
      continue;
    }
    instance_options.signature = *std::move(signature);
    instance_options.temporary_directory =
        fmt::format("{}/{}/temporary", directory, description.name);
    volumes.push_back(*std::move(volume));
  }
  if (volumes.empty() && !store.failures.empty()) return store.failures.front();
  if (volumes.empty()) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no volume in {}", directory)};
  }
  store.instance = std::make_unique<Instance>(std::move(volumes), std::move(instance_options));
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
  const std::string path = directory + '/' + description.name;
  if (description.kind == VolumeKind::kContainer) {
    return ContainerVolume::Create(
        fs, path, {description.name, description.signature, description.capacity_bytes});
  }
  return TreeVolume::Create(
      fs, path,
      {description.name, description.signature, description.depth, description.capacity_bytes});
}

}  // namespace stele::store
