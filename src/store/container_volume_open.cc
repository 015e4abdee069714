// Making, opening and recovering a container volume.
#include <fmt/format.h>

#include "formats/warc/warc_writer.h"
#include "store/container_volume.h"
#include "store/volume_file.h"

namespace stele::store {
namespace {

VolumeDescription Described(const ContainerVolume::Shape& shape, VolumeState state) {
  VolumeDescription description;
  description.kind = VolumeKind::kContainer;
  description.name = shape.name;
  description.signature = shape.signature;
  description.capacity_bytes = shape.capacity_bytes;
  description.state = state;
  description.durability = shape.durability;
  return description;
}

}  // namespace

ContainerVolume::ContainerVolume(Environment environment, std::string directory,
                                 std::unique_ptr<BlockTable> table, Options options)
    : environment_(environment),
      directory_(std::move(directory)),
      options_(std::move(options)),
      disk_(environment.fs, directory_, options_.disk),
      table_(std::move(table)),
      index_(*table_),
      files_(environment.fs, directory_ + "/containers") {}

ContainerVolume::~ContainerVolume() {
  background_.reset();
  if (unsynced_) static_cast<void>(SyncDisk().ok());
  // Without it, the next opening reads a little more of the log.
  static_cast<void>(index_.Flush().ok());
}

Status ContainerVolume::Create(io::FileSystem& fs, const std::string& directory,
                               const Shape& shape) {
  return CreateVolumeFile(fs, directory, Described(shape, VolumeState::kWritable),
                          {"containers", "temporary"});
}

Status ContainerVolume::AcceptsCodec(const std::string& codec) {
  if (codec == "gzip" || codec == "identity") return {};
  return Error{
      ErrorCode::kInvalid,
      fmt::format("containers are gzip: nothing in them can be compressed with {}", codec)};
}

Result<std::unique_ptr<ContainerVolume>> ContainerVolume::Open(Environment environment,
                                                               const std::string& directory,
                                                               std::unique_ptr<BlockTable> table,
                                                               Options options) {
  for (const CompressionTable::Rule& rule : options.compression.rules()) {
    const Status accepted = AcceptsCodec(rule.compression.codec);
    if (!accepted) return accepted.error();
  }
  std::unique_ptr<ContainerVolume> volume(
      new ContainerVolume(environment, directory, std::move(table), std::move(options)));
  Status status = volume->ReadShape();
  if (status) status = volume->Recover();
  if (!status) return status.error();
  return volume;
}

Status ContainerVolume::ReadShape() {
  const Result<VolumeDescription> found = ReadVolumeFile(environment_.fs, directory_);
  if (!found) return found.error();
  if (found->kind != VolumeKind::kContainer) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the volume in {} has no containers", directory_)};
  }
  shape_ = {found->name, found->signature, found->capacity_bytes, found->durability};
  configured_ = found->state;
  auto signature = SignatureOf(*found, options_.signature);
  if (!signature) return signature.error();
  options_.signature = *std::move(signature);
  return {};
}

Status ContainerVolume::Recover() {
  Result<std::unique_ptr<io::FileLock>> lock = environment_.fs.Lock(directory_ + "/lock");
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  Status status = EmptyTemporary();
  if (status) status = options_.reindex ? index_.Clear() : index_.Load();
  if (status && buffered()) status = OpenDisk();
  if (!status) return status;
  std::optional<LogPosition> synced;
  if (mark_ != nullptr) synced = {mark_->found().file, mark_->found().bytes};
  Result<ReplayedLog> replayed =
      ReplayLog(files_, index_, options_.signature->size(), synced, options_.progress);
  if (!replayed) return replayed.error();
  damaged_ = std::move(replayed->damaged);
  torn_ = std::move(replayed->torn);
  options_.log.first_record = [this] { return FirstRecord(); };
  options_.log.notes_record = [this](std::string_view lines) { return NotesRecord(lines); };
  if (buffered()) {
    options_.log.on_unsynced = [this] {
      unsynced_ = true;
      background_->Touch();
    };
  }
  log_ = std::make_unique<ContainerLog>(files_, index_, options_.log, replayed->tail);
  status = RemoveCondemned();
  if (!status || !buffered()) return status;
  status = SyncDisk();
  background_ = std::make_unique<BackgroundSync>(
      options_.sync_delay, [this] { static_cast<void>(SyncDisk().ok()); });  // the log remembers it
  return status;
}

Status ContainerVolume::OpenDisk() {
  Result<std::unique_ptr<io::Disk>> disk = environment_.fs.OpenDisk(directory_);
  if (!disk) return disk.error();
  Result<std::unique_ptr<SyncedMark>> mark = SyncedMark::Open(environment_.fs, directory_);
  if (!mark) return mark.error();
  whole_disk_ = *std::move(disk);
  mark_ = *std::move(mark);
  return {};
}

// What has been applied was written before.
Status ContainerVolume::SyncDisk() {
  const std::lock_guard lock(syncing_);
  unsynced_ = false;
  const LogPosition written = index_.position();
  Status status = whole_disk_->Sync();
  if (status) status = mark_->Set({written.container, written.offset});
  if (!status) log_->Fail(status.error());
  return status;
}

Status ContainerVolume::Sync() { return buffered() ? SyncDisk() : Status(); }

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

std::string ContainerVolume::NotesRecord(std::string_view lines) {
  codec::Buffer packed;
  notes_deflater_.Deflate(store::NotesRecord(lines, NewRecordId(), environment_.clock.Now()),
                          packed);
  return std::string(packed.view());
}

Status ContainerVolume::SetState(VolumeState state) {
  if (state == VolumeState::kFull) {
    return Error{ErrorCode::kInvalid, "full is what a volume finds out itself"};
  }
  const Gate::Alone alone(gate_);
  const Status written = ReplaceVolumeFile(environment_.fs, directory_, Described(shape_, state));
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  configured_ = state;
  return {};
}

}  // namespace stele::store
