// A file is pages of entries in rising order of their digests, each digest once: digest, batch and
// serial, 16 bytes. The first digest of each page is in memory, two thousandths of the file.
#include "dedup/digest_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "util/coding.h"

namespace stele::dedup {
namespace {

constexpr std::size_t kEntryBytes = 16;
constexpr std::size_t kEntriesPerPage = 256;
// Read or written at once, when all of a file is.
constexpr std::size_t kPagesAtOnce = 16;
// So many files of one size become one.
constexpr std::size_t kMergedAtOnce = 8;

}  // namespace

// Entries lie where a part of the digest says, or behind that where the place was taken. A node of
// its own for each would be one thread's memory that another one gives back.
class DigestTable::Slots {
 public:
  // Half of the places stay free.
  explicit Slots(std::size_t entries_max)
      : mask_(std::bit_ceil(2 * entries_max) - 1), slots_(mask_ + 1, kFree) {}

  std::size_t size() const { return size_; }

  void Put(Short digest, const catalog::CaptureId& id) {
    Entry& slot = slots_[PlaceOf(digest)];
    if (IsFree(slot)) ++size_;
    slot = {digest, id};
  }

  std::optional<catalog::CaptureId> Find(Short digest) const {
    const Entry& slot = slots_[PlaceOf(digest)];
    return IsFree(slot) ? std::nullopt : std::optional(slot.id);
  }

  // In order of their digests; then nothing is in it.
  std::vector<Entry> TakeAll() {
    std::vector<Entry> entries;
    entries.reserve(size_);
    std::remove_copy_if(slots_.begin(), slots_.end(), std::back_inserter(entries), IsFree);
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.digest < b.digest; });
    std::fill(slots_.begin(), slots_.end(), kFree);
    size_ = 0;
    return entries;
  }

 private:
  // No month has this number.
  static constexpr Entry kFree{0, {~std::uint32_t{0}, 0}};
  static bool IsFree(const Entry& slot) { return slot.id == kFree.id; }

  // Where it is, or has to be.
  std::size_t PlaceOf(Short digest) const {
    std::size_t place = digest & mask_;
    while (!IsFree(slots_[place]) && slots_[place].digest != digest) place = (place + 1) & mask_;
    return place;
  }

  const std::size_t mask_;
  std::vector<Entry> slots_;
  std::size_t size_ = 0;
};

class DigestTable::Run {
 public:
  Run(std::string path, std::unique_ptr<io::ReadableFile> file, std::vector<Short> firsts, int size)
      : path_(std::move(path)), file_(std::move(file)), firsts_(std::move(firsts)), size_(size) {}

  const std::string& path() const { return path_; }
  // Each is kMergedAtOnce times as large as the one before.
  int size() const { return size_; }

  Result<std::optional<catalog::CaptureId>> Find(Short digest) const {
    std::optional<catalog::CaptureId> id;
    const auto behind = std::upper_bound(firsts_.begin(), firsts_.end(), digest);
    if (behind == firsts_.begin()) return id;
    const auto page = static_cast<std::size_t>(behind - firsts_.begin()) - 1;
    const Result<std::vector<Entry>> entries = Read(page * kEntriesPerPage, kEntriesPerPage);
    if (!entries) return entries.error();
    const auto at =
        std::lower_bound(entries->begin(), entries->end(), digest,
                         [](const Entry& entry, Short wanted) { return entry.digest < wanted; });
    if (at != entries->end() && at->digest == digest) id = at->id;
    return id;
  }

  // Fewer at the end only.
  Result<std::vector<Entry>> Read(std::uint64_t from, std::size_t count) const {
    std::string bytes(count * kEntryBytes, '\0');
    const Result<std::size_t> read = file_->ReadAt(from * kEntryBytes, bytes);
    if (!read) return read.error();
    bytes.resize(*read);
    std::vector<Entry> entries;
    entries.reserve(bytes.size() / kEntryBytes);
    ByteReader in(bytes);
    for (std::size_t i = bytes.size() / kEntryBytes; i > 0; --i) {
      Entry& entry = entries.emplace_back();
      entry.digest = in.Fixed64();
      entry.id.batch = in.Fixed32();
      entry.id.serial = in.Fixed32();
    }
    return entries;
  }

 private:
  const std::string path_;
  const std::unique_ptr<io::ReadableFile> file_;
  const std::vector<Short> firsts_;  // of each page
  const int size_;
};

// Takes entries in rising order.
class DigestTable::RunWriter {
 public:
  RunWriter(io::FileSystem& fs, std::string path, std::unique_ptr<io::WritableFile> file, int size)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)), size_(size) {}

  Status Put(const Entry& entry) {
    if (entries_++ % kEntriesPerPage == 0) firsts_.push_back(entry.digest);
    PutFixed64(bytes_, entry.digest);
    PutFixed32(bytes_, entry.id.batch);
    PutFixed32(bytes_, entry.id.serial);
    return bytes_.size() < kPagesAtOnce * kEntriesPerPage * kEntryBytes ? Status() : Write();
  }

  Result<std::unique_ptr<Run>> Finish() {
    Status written = Write();
    if (written) written = file_->Close();
    if (!written) return written.error();
    Result<std::unique_ptr<io::ReadableFile>> file = fs_.OpenForReading(path_);
    if (!file) return file.error();
    return std::make_unique<Run>(path_, *std::move(file), std::move(firsts_), size_);
  }

 private:
  Status Write() {
    const Status written = file_->Append(bytes_);
    bytes_.clear();
    return written;
  }

  io::FileSystem& fs_;
  const std::string path_;
  const std::unique_ptr<io::WritableFile> file_;
  const int size_;
  std::uint64_t entries_ = 0;
  std::vector<Short> firsts_;
  std::string bytes_;
};

// From the first entry to the last.
class DigestTable::RunReader {
 public:
  explicit RunReader(const Run& run) : run_(run) {}

  Status Advance() {
    if (++at_ < entries_.size()) return {};
    read_ += entries_.size();
    Result<std::vector<Entry>> entries = run_.Read(read_, kPagesAtOnce * kEntriesPerPage);
    if (!entries) return entries.error();
    entries_ = *std::move(entries);
    at_ = 0;
    return {};
  }
  // Null behind the last.
  const Entry* entry() const { return at_ < entries_.size() ? &entries_[at_] : nullptr; }

 private:
  const Run& run_;
  std::uint64_t read_ = 0;  // before entries_
  std::vector<Entry> entries_;
  std::size_t at_ = 0;
};

Status DigestTable::RemoveFiles() {
  const Result<std::vector<std::string>> names = fs_.List(folder_);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (const Status removed = fs_.Remove(folder_ + '/' + name); !removed) return removed;
  }
  return {};
}

Result<std::unique_ptr<DigestTable>> DigestTable::Create(io::FileSystem& fs, std::string folder,
                                                         std::size_t in_memory_max) {
  if (const Status made = fs.MakeDirectory(folder); !made) return made.error();
  std::unique_ptr<DigestTable> table(new DigestTable(fs, std::move(folder), in_memory_max));
  if (const Status removed = table->RemoveFiles(); !removed) return removed.error();
  return table;
}

DigestTable::DigestTable(io::FileSystem& fs, std::string folder, std::size_t in_memory_max)
    : fs_(fs),
      folder_(std::move(folder)),
      in_memory_max_(in_memory_max),
      in_memory_(std::make_unique<Slots>(in_memory_max)) {}

// What is left after a kill goes with the next one.
DigestTable::~DigestTable() { static_cast<void>(RemoveFiles()); }

Status DigestTable::Add(Short digest, const catalog::CaptureId& id) {
  const std::lock_guard lock(mutex_);
  in_memory_->Put(digest, id);
  return in_memory_->size() < in_memory_max_ ? Status() : Spill();
}

Result<std::optional<catalog::CaptureId>> DigestTable::Find(Short digest) const {
  const std::shared_lock lock(mutex_);
  if (const auto id = in_memory_->Find(digest)) return id;
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    Result<std::optional<catalog::CaptureId>> found = (*run)->Find(digest);
    if (!found || *found) return found;
  }
  return std::optional<catalog::CaptureId>();
}

Result<std::unique_ptr<DigestTable::RunWriter>> DigestTable::NewRun(int size) {
  std::string path = fmt::format("{}/{}", folder_, ++runs_made_);
  Result<std::unique_ptr<io::WritableFile>> file = fs_.Create(path);
  if (!file) return file.error();
  return std::make_unique<RunWriter>(fs_, std::move(path), *std::move(file), size);
}

Status DigestTable::Spill() {
  const Result<std::unique_ptr<RunWriter>> writer = NewRun(0);
  if (!writer) return writer.error();
  for (const Entry& entry : in_memory_->TakeAll()) {
    if (const Status put = (*writer)->Put(entry); !put) return put;
  }
  Result<std::unique_ptr<Run>> run = (*writer)->Finish();
  if (!run) return run.error();
  runs_.push_back(*std::move(run));
  return Merge();
}

Status DigestTable::Merge() {
  const int size = runs_.back()->size();
  if (runs_.size() < kMergedAtOnce || runs_[runs_.size() - kMergedAtOnce]->size() != size) {
    return {};
  }
  const auto first = runs_.end() - kMergedAtOnce;
  std::vector<RunReader> readers;
  for (auto run = first; run != runs_.end(); ++run) readers.emplace_back(**run);
  const Result<std::unique_ptr<RunWriter>> writer = NewRun(size + 1);
  if (!writer) return writer.error();
  if (const Status merged = MergeInto(**writer, readers); !merged) return merged;
  Result<std::unique_ptr<Run>> merged = (*writer)->Finish();
  if (!merged) return merged.error();
  for (auto run = first; run != runs_.end(); ++run) {
    if (const Status removed = fs_.Remove((*run)->path()); !removed) return removed;
  }
  runs_.erase(first, runs_.end());
  runs_.push_back(*std::move(merged));
  return Merge();
}

Status DigestTable::MergeInto(RunWriter& writer, std::vector<RunReader>& readers) const {
  for (RunReader& reader : readers) {
    if (const Status begun = reader.Advance(); !begun) return begun;
  }
  for (;;) {
    // Of equal ones that of the newest.
    const Entry* least = nullptr;
    for (const RunReader& reader : readers) {
      const Entry* entry = reader.entry();
      if (entry != nullptr && (least == nullptr || entry->digest <= least->digest)) least = entry;
    }
    if (least == nullptr) return {};
    const Entry next = *least;
    if (const Status put = writer.Put(next); !put) return put;
    for (RunReader& reader : readers) {
      if (reader.entry() == nullptr || reader.entry()->digest != next.digest) continue;
      if (const Status advanced = reader.Advance(); !advanced) return advanced;
    }
  }
}

}  // namespace stele::dedup
