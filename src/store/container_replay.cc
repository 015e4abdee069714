#include "store/container_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/record/digest_checker.h"
#include "formats/record/record_reader.h"
#include "formats/warc/warc_grammar.h"

namespace stele::store {
namespace {

constexpr std::size_t kEntriesPerBatch = 1000;

// Reads the records of one container.
class Scanner {
 public:
  Scanner(std::shared_ptr<const io::ReadableFile> file, std::uint64_t serial, std::uint64_t size,
          bool check_digests)
      : source_(std::make_unique<FilePrefix>(std::move(file), size)),
        reader_(record::NewGzipInput(std::make_unique<record::ByteWindow>(source_)),
                std::make_unique<warc::WarcGrammar>()),
        serial_(serial),
        size_(size),
        check_digests_(check_digests) {}

  Result<ScannedContainer> Run(std::uint64_t from, const std::function<Status(LogEntry)>& visit) {
    scanned_.good_end = from;
    if (from >= size_) return std::move(scanned_);
    Status status = reader_.SkipTo(from);
    if (!status) return status.error();
    for (;;) {
      Result<const record::Record*> record = reader_.Next();
      if (!record) return record.error();
      if (*record == nullptr) break;
      status = ReadOne(**record, visit);
      if (!status) return status.error();
    }
    for (const record::Loss& loss : reader_.losses()) {
      AddDamage(loss.begin, loss.end, loss.reason);
    }
    std::stable_sort(scanned_.damaged.begin(), scanned_.damaged.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return std::move(scanned_);
  }

 private:
  Status ReadOne(const record::Record& record, const std::function<Status(LogEntry)>& visit) {
    const bool wants_body = HasNotes(record);
    std::string body;
    if (check_digests_) digests_.Begin(record);
    while (wants_body || check_digests_) {
      const Result<std::string_view> piece = reader_.ReadBlock();
      if (!piece && piece.error().code == ErrorCode::kCorrupt) return {};  // becomes a loss
      if (!piece) return piece.error();
      if (piece->empty()) break;
      if (wants_body) body += *piece;
      if (check_digests_) digests_.Feed(*piece);
    }
    std::vector<record::Defect> defects;
    if (check_digests_) digests_.Finish(defects);
    const Result<record::Extent> extent = reader_.Finish();
    if (!extent && extent.error().code == ErrorCode::kCorrupt) return {};
    if (!extent) return extent.error();
    const std::uint64_t end = extent->offset + extent->length;
    scanned_.good_end = std::max(scanned_.good_end, end);
    for (const record::Defect& defect : defects) AddDamage(extent->offset, end, defect.text);
    if (record.damaged || !record.at_member_start) {
      AddDamage(extent->offset, end, "the record is not whole");
      return {};
    }
    Result<std::vector<LogEntry>> entries = ParseLogEntries(record, body);
    if (!entries) AddDamage(extent->offset, end, entries.error().text);
    if (!entries) return {};
    for (LogEntry& entry : *entries) {
      entry.location = {serial_, extent->offset, extent->length};
      if (wants_body) entry.note_bytes = extent->length / entries->size();
      const Status visited = visit(std::move(entry));
      if (!visited) return visited;
    }
    return {};
  }

  void AddDamage(std::uint64_t begin, std::uint64_t end, std::string text) {
    scanned_.damaged.push_back({serial_, begin, end, std::move(text)});
  }

  io::FileSource source_;
  record::RecordReader reader_;
  record::DigestChecker digests_;
  const std::uint64_t serial_;
  const std::uint64_t size_;
  const bool check_digests_;
  ScannedContainer scanned_;
};

// Collects entries and applies many at once.
class Applier {
 public:
  Applier(BlockIndex& index, std::size_t signature_bytes, std::vector<LogDamage>& damaged)
      : index_(index), signature_bytes_(signature_bytes), damaged_(damaged) {}

  Status Take(LogEntry entry) {
    if (entry.block.signature.bytes().size() != signature_bytes_) {
      const RecordLocation& at = entry.location;
      damaged_.push_back({at.container, at.offset, at.offset + at.length,
                          "the record has a signature of another function"});
      return {};
    }
    // The entries of one record are applied as one.
    Status applied;
    if (entries_.size() >= kEntriesPerBatch && entry.location != entries_.back().location) {
      applied = Apply(entries_.back().location.end());
    }
    entries_.push_back(std::move(entry));
    return applied;
  }

  Status Apply(LogPosition end) {
    const Status applied = index_.Apply(entries_, end);
    entries_.clear();
    return applied;
  }

 private:
  BlockIndex& index_;
  const std::size_t signature_bytes_;
  std::vector<LogDamage>& damaged_;
  std::vector<LogEntry> entries_;
};

// The tail is safe under its own name before the container loses it.
Result<std::string> MoveTailAside(ContainerFiles& files, const ContainerName& name,
                                  std::uint64_t good_end, std::uint64_t size) {
  io::FileSystem& fs = files.fs();
  int number = 0;
  for (;; ++number) {
    const Result<bool> taken = fs.Exists(files.TornPathOf(name.serial, number));
    if (!taken) return taken.error();
    if (!*taken) break;
  }
  const std::string torn = files.TornPathOf(name.serial, number);
  const Result<std::shared_ptr<const io::ReadableFile>> file = files.Open(name.serial);
  if (!file) return file.error();
  Status status = CopyRange(fs, **file, good_end, size, torn);
  if (status) status = fs.SyncDirectory(files.directory());
  if (!status) return status.error();
  auto container = fs.OpenForAppending(files.PathOf(name));
  if (!container) return container.error();
  status = (*container)->Truncate(good_end);
  if (status) status = (*container)->Sync();
  const Status closed = (*container)->Close();
  if (status) status = closed;
  if (!status) return status.error();
  return torn;
}

// What a killed process wrote may not be on the disk yet; nothing is applied before it is.
Status SyncOpenContainer(ContainerFiles& files, const ContainerName& name) {
  auto file = files.fs().OpenForAppending(files.PathOf(name));
  if (!file) return file.error();
  Status status = (*file)->Sync();
  const Status closed = (*file)->Close();
  if (status) status = closed;
  return status ? files.fs().SyncDirectory(files.directory()) : status;
}

// What follows the first bad place behind `synced` cannot have been there before it.
Status CutUnsynced(ContainerFiles& files, const ContainerName& name, const LogPosition& synced,
                   std::vector<std::string>& torn) {
  const Result<std::shared_ptr<const io::ReadableFile>> file = files.Open(name.serial);
  if (!file) return file.error();
  const Result<std::uint64_t> size = (*file)->Size();
  if (!size) return size.error();
  const std::uint64_t from = synced.container == name.serial ? synced.offset : 0;
  const Result<ScannedContainer> scanned =
      ScanContainer(*file, name.serial, from, false, [](const LogEntry&) { return Status(); });
  if (!scanned) return scanned.error();
  std::uint64_t end = scanned->good_end;
  if (!scanned->damaged.empty()) end = std::min(end, scanned->damaged.front().begin);
  if (end >= *size) return {};
  Result<std::string> moved = MoveTailAside(files, name, end, *size);
  if (!moved) return moved.error();
  torn.push_back(*std::move(moved));
  return {};
}

Result<std::uint64_t> SizeOf(ContainerFiles& files, std::uint64_t serial) {
  const Result<std::shared_ptr<const io::ReadableFile>> file = files.Open(serial);
  if (!file) return file.error();
  return (*file)->Size();
}

// Applies what container `name` holds beyond the index. Returns the container's size after it.
Result<std::uint64_t> ReplayContainer(ContainerFiles& files, BlockIndex& index,
                                      const ContainerName& name, std::size_t signature_bytes,
                                      ReplayedLog& replayed) {
  if (!name.sealed) {
    const Status synced = SyncOpenContainer(files, name);
    if (!synced) return synced.error();
  }
  const Result<std::shared_ptr<const io::ReadableFile>> file = files.Open(name.serial);
  if (!file) return file.error();
  const Result<std::uint64_t> size = (*file)->Size();
  if (!size) return size.error();
  const LogPosition position = index.position();
  const std::uint64_t from = position.container == name.serial ? position.offset : 0;
  Applier applier(index, signature_bytes, replayed.damaged);
  Result<ScannedContainer> scanned =
      ScanContainer(*file, name.serial, from, false,
                    [&](LogEntry entry) { return applier.Take(std::move(entry)); });
  if (!scanned) return scanned.error();
  const std::uint64_t end = name.sealed ? *size : scanned->good_end;
  const Status applied = applier.Apply({name.serial, end});
  if (!applied) return applied.error();
  for (LogDamage& damage : scanned->damaged) {
    if (damage.begin < end) replayed.damaged.push_back(std::move(damage));
  }
  if (end == *size) return *size;
  Result<std::string> torn = MoveTailAside(files, name, end, *size);
  if (!torn) return torn.error();
  replayed.torn.push_back(*std::move(torn));
  return end;
}

}  // namespace

Result<ScannedContainer> ScanContainer(std::shared_ptr<const io::ReadableFile> file,
                                       std::uint64_t serial, std::uint64_t from, bool check_digests,
                                       const std::function<Status(LogEntry)>& visit) {
  const Result<std::uint64_t> size = file->Size();
  if (!size) return size.error();
  return Scanner(std::move(file), serial, *size, check_digests).Run(from, visit);
}

Result<ReplayedLog> ReplayLog(
    ContainerFiles& files, BlockIndex& index, std::size_t signature_bytes,
    const std::optional<LogPosition>& synced,
    const std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>& progress) {
  const Result<std::vector<ContainerName>> names = files.List();
  if (!names) return names.error();
  ReplayedLog replayed;
  if (synced && !names->empty() && !names->back().sealed) {
    const Status cut = CutUnsynced(files, names->back(), *synced, replayed.torn);
    if (!cut) return cut.error();
  }
  const LogPosition position = index.position();
  bool behind = position == LogPosition{};
  std::uint64_t all_bytes = 0;
  for (const ContainerName& name : *names) {
    const Result<std::uint64_t> size = SizeOf(files, name.serial);
    if (!size) return size.error();
    all_bytes += *size;
    if (name.serial == position.container) behind = position.offset <= *size;
  }
  if (!behind) {
    const Status cleared = index.Clear();
    if (!cleared) return cleared.error();
  }
  for (const ContainerName& name : *names) {
    const bool applied = name.serial < index.position().container;
    const Result<std::uint64_t> size =
        applied ? SizeOf(files, name.serial)
                : ReplayContainer(files, index, name, signature_bytes, replayed);
    if (!size) return size.error();
    replayed.tail.last = name;
    replayed.tail.last_size = *size;
    replayed.tail.all_bytes += *size;
    if (progress) progress(replayed.tail.all_bytes, all_bytes);
  }
  return replayed;
}

}  // namespace stele::store
