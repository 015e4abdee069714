#include "store/volume_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kTreeLine = "STELE-TREE-VOLUME 1\n";
constexpr std::string_view kContainerLine = "STELE-CONTAINER-VOLUME 1\n";

std::string PathIn(const std::string& directory) { return directory + "/volume"; }

Status CheckDescription(const VolumeDescription& description) {
  if (!IsVolumeName(description.name)) {
    return Error{ErrorCode::kInvalid, fmt::format("'{}' is no name for a volume: 1 to 64 of a-z, "
                                                  "0-9, - and _",
                                                  description.name)};
  }
  if (description.signature.empty() || description.signature.find('\n') != std::string::npos) {
    return Error{ErrorCode::kInvalid, "the signature function needs a name"};
  }
  if (description.kind == VolumeKind::kContainer) return {};
  const auto known = SignatureFunctionByName(description.signature);
  const std::size_t depth_max = known != nullptr ? known->size() : Signature::kBytesMax;
  if (description.depth < 1 || static_cast<std::size_t>(description.depth) > depth_max) {
    return Error{ErrorCode::kInvalid, fmt::format("a tree of depth {} cannot be made: 1 to {}",
                                                  description.depth, depth_max)};
  }
  return {};
}

std::string Format(const VolumeDescription& description) {
  const bool is_tree = description.kind == VolumeKind::kTree;
  const bool is_synced = description.durability == Durability::kSynced;
  return fmt::format(
      "{}name {}\nsignature {}\n{}capacity {}\nstate {}\n{}", is_tree ? kTreeLine : kContainerLine,
      description.name, description.signature,
      is_tree ? fmt::format("depth {}\n", description.depth) : "", description.capacity_bytes,
      VolumeStateName(description.state),
      is_synced ? "" : fmt::format("durability {}\n", DurabilityName(description.durability)));
}

// Reads what Format() writes and nothing else.
std::optional<VolumeDescription> Parse(std::string_view text) {
  VolumeDescription found;
  if (text.starts_with(kContainerLine)) found.kind = VolumeKind::kContainer;
  for (std::string_view line : Split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view value = line.substr(space + 1);
    const auto number = ParseDecimal(value);
    line = line.substr(0, space);
    if (line == "name") found.name = value;
    if (line == "signature") found.signature = value;
    if (line == "depth" && number)
      found.depth = static_cast<int>(std::min<std::uint64_t>(*number, 99));
    if (line == "capacity") found.capacity_bytes = number.value_or(0);
    if (line == "durability") {
      found.durability = DurabilityByName(value).value_or(Durability::kSynced);
    }
    if (line == "state") found.state = VolumeStateByName(value).value_or(VolumeState::kWritable);
  }
  if (Format(found) != text || !CheckDescription(found)) return std::nullopt;
  return found;
}

}  // namespace

Status CreateVolumeFile(io::FileSystem& fs, const std::string& directory,
                        const VolumeDescription& description,
                        std::initializer_list<const char*> parts,
                        const std::function<Status()>& prepare) {
  Status status = CheckDescription(description);
  if (status) status = fs.MakeDirectory(directory);
  if (!status) return status;
  const Result<bool> exists = fs.Exists(PathIn(directory));
  if (!exists) return exists.error();
  if (*exists) {
    return Error{ErrorCode::kInvalid, fmt::format("there is a volume in {} already", directory)};
  }
  for (const char* part : parts) {
    if (status) status = fs.MakeDirectory(directory + '/' + part);
  }
  if (status) status = prepare();
  if (status) status = fs.SyncDirectory(io::ParentDirectory(directory));
  return status ? ReplaceVolumeFile(fs, directory, description) : status;
}

Result<VolumeDescription> ReadVolumeFile(io::FileSystem& fs, const std::string& directory) {
  const Result<std::string> text = io::ReadFile(fs, PathIn(directory));
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no volume in {}", directory)};
  }
  if (!text) return text.error();
  std::optional<VolumeDescription> description = Parse(*text);
  if (!description) return Error{ErrorCode::kCorrupt, PathIn(directory) + " cannot be read"};
  return *std::move(description);
}

Status ReplaceVolumeFile(io::FileSystem& fs, const std::string& directory,
                         const VolumeDescription& description) {
  return io::ReplaceFile(fs, PathIn(directory), Format(description));
}

Result<std::shared_ptr<const SignatureFunction>> SignatureOf(
    const VolumeDescription& description, std::shared_ptr<const SignatureFunction> given) {
  if (given == nullptr) given = SignatureFunctionByName(description.signature);
  if (given == nullptr || given->name() != description.signature) {
    return Error{ErrorCode::kInvalid, fmt::format("volume {} has signatures of {}",
                                                  description.name, description.signature)};
  }
  return given;
}

Status TakeVolumeName(io::FileSystem& fs, const std::string& store_directory,
                      const std::string& name) {
  const std::string path = store_directory + "/names";
  const Result<std::string> names = io::ReadFile(fs, path);
  if (!names && names.error().code != ErrorCode::kNotFound) return names.error();
  const std::string text = names ? *names : "";
  for (const std::string_view taken : Split(text, '\n')) {
    if (taken != name) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} has or had a volume {}: names are not given twice, because keys "
                             "of the old volume may still be in use; choose another one",
                             store_directory, name)};
  }
  return io::ReplaceFile(fs, path, text + name + '\n');
}

}  // namespace stele::store
