#include "store/local_store.h"

#include <fmt/format.h>

namespace stele::store {

Result<LocalStore> OpenLocalStore(io::FileSystem& fs, const std::string& directory,
                                  Placement placement, const TreeVolume::Options& options) {
  const Error none{ErrorCode::kNotFound, fmt::format("there is no volume in {}", directory)};
  const Result<std::vector<std::string>> names = fs.List(directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return none;
  if (!names) return names.error();
  LocalStore store;
  Instance::Options instance_options;
  instance_options.placement = placement;
  instance_options.fs = &fs;
  std::vector<std::unique_ptr<Volume>> volumes;
  for (const std::string& name : *names) {
    const std::string path = directory + '/' + name;
    if (!IsVolumeName(name)) continue;
    Result<std::unique_ptr<TreeVolume>> volume = TreeVolume::Open(fs, path, options);
    if (!volume && volume.error().code == ErrorCode::kNotFound) continue;
    if (!volume) {
      store.failures.push_back(volume.error());
      continue;
    }
    if ((*volume)->name() != name) {
      store.failures.push_back({ErrorCode::kInvalid, fmt::format("the volume in {} is called {}",
                                                                 path, (*volume)->name())});
      continue;
    }
    const std::string& signature = (*volume)->shape().signature;
    if (instance_options.signature == nullptr) {
      instance_options.signature = options.signature;
      if (options.signature == nullptr) {
        instance_options.signature = SignatureFunctionByName(signature);
      }
      instance_options.temporary_directory = path + "/temporary";
    }
    if (instance_options.signature->name() != signature) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("the volumes in {} have different signatures", directory)};
    }
    volumes.push_back(*std::move(volume));
  }
  if (volumes.empty()) return store.failures.empty() ? none : store.failures.front();
  store.instance = std::make_unique<Instance>(std::move(volumes), std::move(instance_options));
  return store;
}

Status AddLocalVolume(io::FileSystem& fs, const std::string& directory,
                      const TreeVolume::Shape& shape) {
  if (!IsVolumeName(shape.name)) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("'{}' is no name for a volume: 1 to 64 of a-z, 0-9, - and _", shape.name)};
  }
  Status status = fs.MakeDirectory(directory);
  if (status) status = fs.SyncDirectory(io::ParentDirectory(directory));
  if (!status) return status;
  return TreeVolume::Create(fs, directory + '/' + shape.name, shape);
}

}  // namespace stele::store
