// Making, opening and recovering a container volume.
#include <fmt/format.h>

#include "store/container_volume.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kFirstLine = "STELE-CONTAINER-VOLUME 1";

struct Described {
  ContainerVolume::Shape shape;
  VolumeState state = VolumeState::kWritable;
};

Status CheckShape(const ContainerVolume::Shape& shape) {
  if (!IsVolumeName(shape.name)) {
    return Error{ErrorCode::kInvalid, fmt::format("'{}' is no name for a volume: 1 to 64 of a-z, "
                                                  "0-9, - and _",
                                                  shape.name)};
  }
  if (shape.signature.empty() || shape.signature.find('\n') != std::string::npos) {
    return Error{ErrorCode::kInvalid, "the signature function needs a name"};
  }
  return {};
}

std::string FormatShape(const ContainerVolume::Shape& shape, VolumeState state) {
  return fmt::format("{}\nname {}\nsignature {}\ncapacity {}\nstate {}\n", kFirstLine, shape.name,
                     shape.signature, shape.capacity_bytes, VolumeStateName(state));
}

// Reads what FormatShape() writes and nothing else.
std::optional<Described> ParseShape(const std::string& text) {
  const std::vector<std::string_view> lines = Split(text, '\n');
  if (lines.size() != 6) return std::nullopt;
  constexpr std::string_view kNames[] = {"name ", "signature ", "capacity ", "state "};
  std::string_view values[4];
  for (std::size_t i = 0; i < 4; ++i) {
    if (!lines[i + 1].starts_with(kNames[i])) return std::nullopt;
    values[i] = lines[i + 1].substr(kNames[i].size());
  }
  const auto capacity = ParseDecimal(values[2]);
  const auto state = VolumeStateByName(values[3]);
  if (!capacity || !state) return std::nullopt;
  Described found{{std::string(values[0]), std::string(values[1]), *capacity}, *state};
  if (FormatShape(found.shape, found.state) != text || !CheckShape(found.shape)) {
    return std::nullopt;
  }
  return found;
}

}  // namespace

ContainerVolume::ContainerVolume(Environment environment, std::string directory,
                                 std::unique_ptr<BlockTable> table, Options options)
    : environment_(environment),
      directory_(std::move(directory)),
      options_(std::move(options)),
      table_(std::move(table)),
      index_(*table_),
      files_(environment.fs, directory_ + "/containers") {}

ContainerVolume::~ContainerVolume() {
  // Without it, the next opening reads a little more of the log.
  static_cast<void>(index_.Flush().ok());
}

// The file `volume` comes last: with it the volume is there.
Status ContainerVolume::Create(io::FileSystem& fs, const std::string& directory,
                               const Shape& shape) {
  Status status = CheckShape(shape);
  if (status) status = fs.MakeDirectory(directory);
  if (!status) return status;
  const Result<bool> exists = fs.Exists(directory + "/volume");
  if (!exists) return exists.error();
  if (*exists) {
    return Error{ErrorCode::kInvalid, fmt::format("there is a volume in {} already", directory)};
  }
  for (const char* part : {"/containers", "/temporary"}) {
    if (status) status = fs.MakeDirectory(directory + part);
  }
  if (status) status = fs.SyncDirectory(io::ParentDirectory(directory));
  if (!status) return status;
  return io::ReplaceFile(fs, directory + "/volume", FormatShape(shape, VolumeState::kWritable));
}

Result<std::unique_ptr<ContainerVolume>> ContainerVolume::Open(Environment environment,
                                                               const std::string& directory,
                                                               std::unique_ptr<BlockTable> table,
                                                               Options options) {
  for (const CompressionTable::Rule& rule : options.compression.rules()) {
    const std::string& codec = rule.compression.codec;
    if (codec != "gzip" && codec != "identity") {
      return Error{
          ErrorCode::kInvalid,
          fmt::format("containers are gzip: nothing in them can be compressed with {}", codec)};
    }
  }
  std::unique_ptr<ContainerVolume> volume(
      new ContainerVolume(environment, directory, std::move(table), std::move(options)));
  Status status = volume->ReadShape();
  if (status) status = volume->Recover();
  if (!status) return status.error();
  return volume;
}

Status ContainerVolume::ReadShape() {
  const std::string path = directory_ + "/volume";
  const Result<std::string> text = io::ReadFile(environment_.fs, path);
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
  return {};
}

Status ContainerVolume::Recover() {
  Result<std::unique_ptr<io::FileLock>> lock = environment_.fs.Lock(directory_ + "/lock");
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  Status status = EmptyTemporary();
  if (status) status = index_.Load();
  if (!status) return status;
  Result<ReplayedLog> replayed = ReplayLog(files_, index_, options_.signature->size());
  if (!replayed) return replayed.error();
  damaged_ = std::move(replayed->damaged);
  torn_ = std::move(replayed->torn);
  options_.log.first_record = [this] { return FirstRecord(); };
  log_ = std::make_unique<ContainerLog>(files_, index_, options_.log, replayed->tail);
  return {};
}

Status ContainerVolume::EmptyTemporary() {
  const std::string directory = directory_ + "/temporary";
  const Result<std::vector<std::string>> names = environment_.fs.List(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const Status removed = environment_.fs.Remove(directory + "/" + name);
    if (!removed) return removed;
  }
  return {};
}

std::string ContainerVolume::FirstRecord() {
  warc::FieldList fields;
  fields.Add("WARC-Type", "warcinfo");
  fields.Add("WARC-Record-ID", fmt::format("<{}>", NewRecordId()));
  fields.Add("WARC-Date", FormatIsoMillis(environment_.clock.Now()));
  fields.Add("Content-Type", "application/warc-fields");
  const std::string body = fmt::format(
      "software: stele\r\nformat: WARC File Format 1.1\r\nisPartOf: {}\r\n"
      "stele-signature: {}\r\n",
      shape_.name, shape_.signature);
  io::StringSink sink;
  const auto writer = warc::WarcWriter::Create(sink, {});
  Check(writer.ok());
  Check((*writer)->Write(fields, body).ok());
  return sink.Take();
}

Status ContainerVolume::SetState(VolumeState state) {
  if (state == VolumeState::kFull) {
    return Error{ErrorCode::kInvalid, "full is what a volume finds out itself"};
  }
  const Gate::Alone alone(gate_);
  const Status written =
      io::ReplaceFile(environment_.fs, directory_ + "/volume", FormatShape(shape_, state));
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  configured_ = state;
  disk_full_ = false;
  return {};
}

}  // namespace stele::store
