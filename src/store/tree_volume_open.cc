// Making, opening and recovering a tree volume, and settling its journal.
#include <fmt/format.h>

#include <set>

#include "store/block.h"
#include "store/tree_volume.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kFirstLine = "STELE-TREE-VOLUME 1";

Status CheckShape(const TreeVolume::Shape& shape) {
  if (!IsVolumeName(shape.name)) {
    return Error{ErrorCode::kInvalid, fmt::format("'{}' is no name for a volume: 1 to 64 of a-z, "
                                                  "0-9, - and _",
                                                  shape.name)};
  }
  const auto known = SignatureFunctionByName(shape.signature);
  const std::size_t depth_max = known != nullptr ? known->size() : Signature::kBytesMax;
  if (shape.depth < 1 || static_cast<std::size_t>(shape.depth) > depth_max) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("a tree of depth {} cannot be made: 1 to {}", shape.depth, depth_max)};
  }
  if (shape.signature.empty() || shape.signature.find('\n') != std::string::npos) {
    return Error{ErrorCode::kInvalid, "the signature function needs a name"};
  }
  return {};
}

Status CheckCodecs(const CompressionTable& table, const codec::Registry& codecs) {
  std::set<std::string> names = {"identity"};
  for (const CompressionTable::Rule& rule : table.rules()) names.insert(rule.compression.codec);
  for (const std::string& name : names) {
    const codec::Codec* codec = codecs.Find(name);
    if (codec == nullptr || codec->NewEncoder(1) == nullptr ||
        codec->name().size() > kBlockCompressionLength) {
      return Error{ErrorCode::kInvalid, fmt::format("nothing can be compressed with {}", name)};
    }
  }
  return {};
}

std::string FormatShape(const TreeVolume::Shape& shape, VolumeState state) {
  return fmt::format("{}\nname {}\nsignature {}\ndepth {}\ncapacity {}\nstate {}\n", kFirstLine,
                     shape.name, shape.signature, shape.depth, shape.capacity_bytes,
                     VolumeStateName(state));
}

struct Described {
  TreeVolume::Shape shape;
  VolumeState state = VolumeState::kWritable;
};

// Reads what FormatShape() writes and nothing else.
std::optional<Described> ParseShape(const std::string& text) {
  const std::vector<std::string_view> lines = Split(text, '\n');
  if (lines.size() != 7) return std::nullopt;
  constexpr std::string_view kNames[] = {"name ", "signature ", "depth ", "capacity ", "state "};
  std::string_view values[5];
  for (std::size_t i = 0; i < 5; ++i) {
    if (!lines[i + 1].starts_with(kNames[i])) return std::nullopt;
    values[i] = lines[i + 1].substr(kNames[i].size());
  }
  const auto depth = ParseDecimal(values[2]);
  const auto capacity = ParseDecimal(values[3]);
  const auto state = VolumeStateByName(values[4]);
  if (!depth || *depth > Signature::kBytesMax || !capacity || !state) return std::nullopt;
  const Described found{
      {std::string(values[0]), std::string(values[1]), static_cast<int>(*depth), *capacity},
      *state};
  if (FormatShape(found.shape, found.state) != text || !CheckShape(found.shape))
    return std::nullopt;
  return found;
}

}  // namespace

TreeVolume::TreeVolume(io::FileSystem& fs, std::string directory, Options options)
    : fs_(fs), directory_(std::move(directory)), options_(std::move(options)) {}

// The file `volume` comes last: with it the volume is there.
Status TreeVolume::Create(io::FileSystem& fs, const std::string& directory, const Shape& shape) {
  Status status = CheckShape(shape);
  if (status) status = fs.MakeDirectory(directory);
  if (!status) return status;
  const Result<bool> exists = fs.Exists(directory + "/volume");
  if (!exists) return exists.error();
  if (*exists) {
    return Error{ErrorCode::kInvalid, fmt::format("there is a volume in {} already", directory)};
  }
  for (const char* part : {"/blocks", "/temporary"}) {
    if (status) status = fs.MakeDirectory(directory + part);
  }
  if (status) status = ReferenceLog::Create(fs, directory);
  if (status) status = fs.SyncDirectory(io::ParentDirectory(directory));
  if (!status) return status;
  return io::ReplaceFile(fs, directory + "/volume", FormatShape(shape, VolumeState::kWritable));
}

Result<std::unique_ptr<TreeVolume>> TreeVolume::Open(io::FileSystem& fs,
                                                     const std::string& directory,
                                                     Options options) {
  if (options.codecs == nullptr) {
    options.codecs = std::make_shared<const codec::Registry>(codec::StandardRegistry());
  }
  const Status known = CheckCodecs(options.compression, *options.codecs);
  if (!known) return known.error();
  std::unique_ptr<TreeVolume> volume(new TreeVolume(fs, directory, std::move(options)));
  Status status = volume->ReadShape();
  if (status) status = volume->Recover();
  if (!status) return status.error();
  return volume;
}

Status TreeVolume::ReadShape() {
  const std::string path = directory_ + "/volume";
  const Result<std::string> text = io::ReadFile(fs_, path);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no volume in {}", directory_)};
  }
  if (!text) return text.error();
  const std::optional<Described> described = ParseShape(*text);
  if (!described) return Error{ErrorCode::kCorrupt, path + " cannot be read"};
  shape_ = described->shape;
  configured_ = described->state;
  if (options_.signature == nullptr) {
    options_.signature = SignatureFunctionByName(shape_.signature);
  }
  if (options_.signature == nullptr || options_.signature->name() != shape_.signature) {
    return Error{ErrorCode::kInvalid, fmt::format("the volume in {} has signatures of {}",
                                                  directory_, shape_.signature)};
  }
  if (static_cast<std::size_t>(shape_.depth) > options_.signature->size()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the volume in {} is deeper than signatures of {} allow", directory_,
                             shape_.signature)};
  }
  return {};
}

Status TreeVolume::WriteShape() {
  VolumeState state;
  {
    const std::lock_guard lock(mutex_);
    state = configured_;
  }
  return io::ReplaceFile(fs_, directory_ + "/volume", FormatShape(shape_, state));
}

Status TreeVolume::Recover() {
  Result<std::unique_ptr<io::FileLock>> lock = fs_.Lock(directory_ + "/lock");
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  Result<std::unique_ptr<ReferenceLog>> log = ReferenceLog::Open(fs_, directory_, options_.log);
  if (!log) return log.error();
  log_ = *std::move(log);
  const Result<bool> damaged = fs_.Exists(directory_ + "/journal.damaged");
  if (!damaged) return damaged.error();
  journal_was_damaged_ = *damaged;
  const Status emptied = EmptyTemporary();
  if (!emptied) return emptied;
  const Result<std::vector<ReferenceLog::Count>> counts = log_->Unsettled();
  if (!counts) return counts.error();
  if (counts->empty() && !log_->WantsCheckpoint()) return {};
  const Status settled = SettleHeaders(*counts);
  return settled ? log_->Checkpoint() : settled;
}

Status TreeVolume::EmptyTemporary() {
  const std::string directory = directory_ + "/temporary";
  const Result<std::vector<std::string>> names = fs_.List(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const Status removed = fs_.Remove(directory + '/' + name);
    if (!removed) return removed;
  }
  return {};
}

// A block that lost its last reference goes, should it still be there. A block that is missing
// or damaged is Verify()'s to report; the others must not suffer for it.
Status TreeVolume::SettleHeaders(const std::vector<ReferenceLog::Count>& counts) {
  for (const ReferenceLog::Count& count : counts) {
    const Status settled = count.references == 0
                               ? RemoveBlock(count.block)
                               : RewriteCounter(count.block, count.references, true);
    if (!settled && settled.error().code != ErrorCode::kNotFound &&
        settled.error().code != ErrorCode::kInvalid) {
      return settled;
    }
  }
  return {};
}

Status TreeVolume::CheckpointWhenDue() {
  if (!log_->WantsCheckpoint()) return {};
  const Gate::Alone alone(gate_);
  if (!log_->WantsCheckpoint()) return {};
  const Result<std::vector<ReferenceLog::Count>> counts = log_->Unsettled();
  if (!counts) return counts.error();
  const Status settled = SettleHeaders(*counts);
  return settled ? log_->Checkpoint() : settled;
}

}  // namespace stele::store
