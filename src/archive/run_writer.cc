// Two halves. Append(), in the caller's thread, makes the records of a capture, and their rows: by
// scanning the records, so that rows are what anybody who scans the container gets. Then they are
// compressed, and rows are told where they are now.
// The writing thread takes all that waits, appends it, syncs once, shows the rows, and tells the
// callers; what comes meanwhile is the next group. Captures that are too long for memory are
// written by that thread.
#include "archive/run_writer.h"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "archive/capture_records.h"
#include "archive/container_scan.h"
#include "archive/growing_container.h"
#include "archive/warcinfo_text.h"
#include "codec/buffer.h"
#include "codec/gzip_member.h"
#include "formats/archive_file/archive_file.h"
#include "io/random.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::archive {
namespace {

// Messages up to here are compressed in memory.
constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{4} << 20;
// How well, as gzip counts.
constexpr int kSmallLevel = 6;
constexpr int kHurriedLevel = 1;

// A capture on its way to the disk.
struct Waiting {
  std::string records;  // compressed; empty: `capture` is written by the thread
  std::optional<CrawledCapture> capture;
  ResponseFacts facts;
  CaptureRecordIds ids;
  Timestamp time;
  bool is_revisit = false;
  FoundRows found;
  RunWriter::Acknowledge acknowledge;

  // About as many as it takes in a file.
  std::uint64_t bytes() const { return capture ? capture->response.size() : records.size(); }
  std::uint64_t memory() const { return records.size() + (capture ? kMemoryBytesMax : 0); }
};

// What a file may be called everywhere.
std::string NamePart(std::string_view text) {
  std::string out;
  for (const char c : text) out += IsAsciiAlnum(c) || c == '.' || c == '_' ? c : '_';
  return out;
}

Error Unlisted() {
  return Error{ErrorCode::kInvalid,
               "a capture that cannot be listed: its URL, type or request is too long"};
}

// Bytes in memory, which must outlive it, as a file.
class TextFile final : public io::ReadableFile {
 public:
  explicit TextFile(std::string_view text) : text_(text) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    return offset < text_.size() ? text_.copy(out.data(), out.size(), offset) : 0;
  }
  Result<std::uint64_t> Size() const override { return text_.size(); }

 private:
  const std::string_view text_;
};

Status FindRows(std::string_view records, const ResponseFacts& facts, FoundRows& found) {
  auto source = std::make_unique<io::FileSource>(std::make_unique<TextFile>(records));
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(std::move(source), "a capture");
  if (!file) return file.error();
  ScanOptions options;
  options.payload_sha256 = facts.sha256;
  return ScanContainer(**file, options, found, found.summary);
}

// Writes records to memory, one capture after another. Keeps what compressing needs.
class Composer {
 public:
  explicit Composer(bool hurried)
      : writer_(std::move(*warc::WarcWriter::Create(
            sink_, {.compression = record::Compression::kNone, .level = 0, .dictionary = ""}))),
        deflater_(hurried ? kHurriedLevel : kSmallLevel) {}

  // The records, compressed. `found` is told of them, and of nothing else before.
  Result<std::string> Compose(const CrawledCapture& capture, const ResponseFacts& facts,
                              const CaptureRecordIds& ids, FoundRows& found) {
    const Status written = WriteCaptureRecords(capture, facts, ids, *writer_);
    if (!written) return written.error();
    const std::string plain = sink_.Take();
    if (const Status scanned = FindRows(plain, facts, found); !scanned) return scanned.error();
    if (found.captures.size() != 1) return Unlisted();
    return Pack(plain, found);
  }

 private:
  // Each record becomes a gzip member.
  std::string Pack(std::string_view plain, FoundRows& found) {
    struct Place {
      std::uint64_t& offset;
      std::uint64_t& length;
    };
    // In their order: a capture comes before what is said about it.
    catalog::CapturePlace& capture = found.captures.front().row.place;
    std::vector<Place> places = {{capture.offset, capture.length}};
    for (Companion& companion : found.companions) {
      places.push_back({companion.offset, companion.length});
    }
    std::string packed;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::uint64_t begin = places[i].offset;
      const std::uint64_t end = i + 1 < places.size() ? places[i + 1].offset : plain.size();
      Check(begin < end && (i > 0 || begin == 0));
      deflater_.Deflate(plain.substr(begin, end - begin), member_);
      places[i].offset = packed.size();
      places[i].length = member_.size();
      packed += member_.view();
    }
    return packed;
  }

  io::StringSink sink_;
  std::unique_ptr<warc::WarcWriter> writer_;
  codec::GzipMemberDeflater deflater_;
  codec::Buffer member_;
};

}  // namespace

class RunWriter::Impl {
 public:
  Impl(ArchiveWriter& archive, std::uint32_t run, RunWriterOptions options)
      : archive_(archive),
        run_(run),
        options_(std::move(options)),
        random_(archive.NewSeed()),
        thread_([this] { Run(); }) {}

  ~Impl() { Stop(); }

  Status Append(const CrawledCapture& capture, Acknowledge acknowledge);
  Status Flush();
  Status Finish();
  Totals totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  using Group = std::deque<std::unique_ptr<Waiting>>;

  CaptureRecordIds NewIds();
  Result<std::unique_ptr<Waiting>> Prepare(const CrawledCapture& capture);
  Status Compose(const CrawledCapture& capture, Waiting& waiting);
  void Stop();

  // The writing thread.
  void Run();
  Status WriteGroup(Group& group);
  Status WriteOne(Waiting& waiting);
  Status EnsureContainer(const Waiting& next, Group& unpublished);
  Status Publish(Group& unpublished);
  Status Seal();
  std::string NextName(Timestamp time);
  std::string WarcinfoBlock() const;

  ArchiveWriter& archive_;
  const std::uint32_t run_;
  const RunWriterOptions options_;

  mutable std::mutex mutex_;  // of all up to thread_
  std::condition_variable changed_;
  io::SeededRandom random_;
  // That nobody uses now, for those who have time and for the others.
  std::array<std::vector<std::unique_ptr<Composer>>, 2> composers_;
  Group waiting_;
  std::uint64_t waiting_bytes_ = 0;  // also of the group that is being written
  std::uint64_t unacknowledged_ = 0;
  int flushing_ = 0;
  bool stopping_ = false;
  std::optional<Error> failed_;
  Totals totals_;

  // Of the writing thread, and of whoever joined it.
  std::unique_ptr<GrowingContainer> container_;
  std::uint32_t containers_ = 0;
  std::thread thread_;
};

CaptureRecordIds RunWriter::Impl::NewIds() {
  const std::lock_guard lock(mutex_);
  const auto id = [&] { return fmt::format("<urn:uuid:{}>", io::NewUuid(random_)); };
  return {.capture = id(), .request = id(), .metadata = id()};
}

Status RunWriter::Impl::Compose(const CrawledCapture& capture, Waiting& waiting) {
  std::vector<std::unique_ptr<Composer>>& composers = composers_[capture.hurried ? 1 : 0];
  std::unique_ptr<Composer> composer;
  {
    const std::lock_guard lock(mutex_);
    if (!composers.empty()) {
      composer = std::move(composers.back());
      composers.pop_back();
    }
  }
  if (composer == nullptr) composer = std::make_unique<Composer>(capture.hurried);
  Result<std::string> records =
      composer->Compose(capture, waiting.facts, waiting.ids, waiting.found);
  if (!records) return records.error();  // the composer is unusable now
  waiting.records = *std::move(records);
  const std::lock_guard lock(mutex_);
  composers.push_back(std::move(composer));
  return {};
}

Result<std::unique_ptr<Waiting>> RunWriter::Impl::Prepare(const CrawledCapture& capture) {
  auto waiting = std::make_unique<Waiting>();
  waiting->time = capture.time;
  waiting->is_revisit = capture.revisit.has_value();
  waiting->ids = NewIds();
  if (capture.facts) {
    waiting->facts = *capture.facts;
  } else {
    Result<ResponseFacts> facts = ExamineResponse(capture.response);
    if (!facts) return facts.error();
    waiting->facts = *std::move(facts);
  }
  const std::uint64_t response =
      waiting->is_revisit ? waiting->facts.head_length : capture.response.size();
  if (response + capture.request.size() > kMemoryBytesMax) {
    for (const std::string& text : {capture.url, capture.ip_address, capture.cipher_suite}) {
      if (text.find_first_of("\r\n") == std::string::npos) continue;
      return Error{ErrorCode::kInvalid, "a field of a record with a line end in it"};
    }
    waiting->capture = capture;
    return waiting;
  }
  if (const Status composed = Compose(capture, *waiting); !composed) return composed.error();
  return waiting;
}

Status RunWriter::Impl::Append(const CrawledCapture& capture, Acknowledge acknowledge) {
  Result<std::unique_ptr<Waiting>> waiting = Prepare(capture);
  if (!waiting) return waiting.error();
  (*waiting)->acknowledge = std::move(acknowledge);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_bytes_ < options_.waiting_bytes_max || failed_; });
  if (failed_) return *failed_;
  Check(!stopping_);
  waiting_bytes_ += (*waiting)->memory();
  ++unacknowledged_;
  waiting_.push_back(*std::move(waiting));
  changed_.notify_all();
  return {};
}

Status RunWriter::Impl::Flush() {
  std::unique_lock lock(mutex_);
  ++flushing_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return unacknowledged_ == 0; });
  --flushing_;
  return failed_ ? Status(*failed_) : Status();
}

void RunWriter::Impl::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status RunWriter::Impl::Finish() {
  Stop();
  if (failed_) return *failed_;
  return Seal();
}

void RunWriter::Impl::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    if (options_.gather.count() > 0) {
      changed_.wait_for(lock, options_.gather, [&] {
        return stopping_ || flushing_ > 0 || 2 * waiting_bytes_ > options_.waiting_bytes_max;
      });
    }
    Group group = std::exchange(waiting_, {});
    std::uint64_t bytes = 0;
    for (const auto& waiting : group) bytes += waiting->memory();
    const bool failed_before = failed_.has_value();
    lock.unlock();
    const Status written = failed_before ? Status(*failed_) : WriteGroup(group);
    lock.lock();
    if (!written && !failed_) failed_ = written.error();
    if (!written) {
      const Result<catalog::CaptureId> lost = *failed_;
      lock.unlock();
      for (const auto& waiting : group) waiting->acknowledge(lost);
      lock.lock();
      unacknowledged_ -= group.size();
    }
    waiting_bytes_ -= bytes;
    changed_.notify_all();
  }
}

// Takes out of `group` what is acknowledged.
Status RunWriter::Impl::WriteGroup(Group& group) {
  Group unpublished;
  Status written;
  while (!group.empty()) {
    written = EnsureContainer(*group.front(), unpublished);
    if (!written) break;
    unpublished.push_back(std::move(group.front()));
    group.pop_front();
    written = WriteOne(*unpublished.back());
    if (!written) break;
  }
  if (written) written = Publish(unpublished);
  if (written) return {};
  container_.reset();  // Open() looks at what is left of it
  while (!unpublished.empty()) {
    group.push_front(std::move(unpublished.back()));
    unpublished.pop_back();
  }
  return written;
}

Status RunWriter::Impl::WriteOne(Waiting& waiting) {
  if (!waiting.capture) return container_->Append(waiting.records, waiting.found);
  return container_->AppendLong(
      [&](io::Sink& sink) -> Status {
        Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(sink, {});
        if (!writer) return writer.error();
        return WriteCaptureRecords(*waiting.capture, waiting.facts, waiting.ids, **writer);
      },
      waiting.found);
}

Status RunWriter::Impl::EnsureContainer(const Waiting& next, Group& unpublished) {
  const std::uint32_t batch = catalog::BatchOf(next.time);
  if (container_ != nullptr && container_->batch() == batch && container_->has_serials_left() &&
      container_->bytes() < options_.container_bytes) {
    const Result<bool> has_room = container_->HasRoomFor(next.bytes());
    if (!has_room) return has_room.error();
    if (*has_room) return {};
  }
  if (container_ != nullptr) {
    if (const Status published = Publish(unpublished); !published) return published;
    if (const Status sealed = Seal(); !sealed) return sealed;
  }
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    id = fmt::format("<urn:uuid:{}>", io::NewUuid(random_));
  }
  Result<std::unique_ptr<GrowingContainer>> begun = GrowingContainer::Begin(
      archive_, run_, NextName(next.time), batch, WarcinfoBlock(), id, next.bytes());
  if (!begun) return begun.error();
  container_ = *std::move(begun);
  return {};
}

Status RunWriter::Impl::Publish(Group& unpublished) {
  if (unpublished.empty()) return {};
  Result<std::vector<catalog::CaptureId>> ids = container_->Publish();
  if (!ids) return ids.error();
  auto id = ids->begin();
  for (const auto& waiting : unpublished) {
    if (waiting->found.captures.empty()) {
      waiting->acknowledge(Unlisted());
    } else {
      waiting->acknowledge(*id++);
    }
  }
  const std::lock_guard lock(mutex_);
  ++totals_.syncs;
  for (const auto& waiting : unpublished) {
    ++totals_.captures;
    if (waiting->is_revisit) ++totals_.revisits;
  }
  unacknowledged_ -= unpublished.size();
  unpublished.clear();
  changed_.notify_all();
  return {};
}

Status RunWriter::Impl::Seal() {
  if (container_ == nullptr) return {};
  const std::uint64_t bytes = container_->bytes();
  if (const Status sealed = container_->Seal(); !sealed) return sealed;
  container_.reset();
  const std::lock_guard lock(mutex_);
  totals_.bytes += bytes;
  return {};
}

std::string RunWriter::Impl::NextName(Timestamp time) {
  return fmt::format("{}-{}-{:05}-{}.warc.gz", NamePart(options_.job), FormatDigits17(time),
                     containers_++, NamePart(options_.host));
}

std::string RunWriter::Impl::WarcinfoBlock() const {
  std::string text = WarcinfoText(archive_.layout().config());
  for (const auto& [name, value] : options_.warcinfo) text += WarcinfoLine(name, value);
  return text;
}

RunWriter::RunWriter(ArchiveWriter& archive, std::uint32_t run, RunWriterOptions options)
    : impl_(std::make_unique<Impl>(archive, run, std::move(options))) {}
RunWriter::~RunWriter() = default;

Status RunWriter::Append(const CrawledCapture& capture, Acknowledge acknowledge) {
  return impl_->Append(capture, std::move(acknowledge));
}

Result<catalog::CaptureId> RunWriter::AppendAndWait(const CrawledCapture& capture) {
  // Shared: the waiting side may be gone while the other is not yet out of set_value().
  const auto promise = std::make_shared<std::promise<Result<catalog::CaptureId>>>();
  const Status appended = impl_->Append(
      capture, [promise](const Result<catalog::CaptureId>& id) { promise->set_value(id); });
  if (!appended) return appended.error();
  return promise->get_future().get();
}

Status RunWriter::Flush() { return impl_->Flush(); }
Status RunWriter::Finish() { return impl_->Finish(); }
RunWriter::Totals RunWriter::totals() const { return impl_->totals(); }

}  // namespace stele::archive
