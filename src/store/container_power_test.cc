// The power goes while a container volume and its RocksDB table work on one disk. Whatever was not
// synced, bytes or names, is lost, kept in part or garbled; whatever was acknowledged is there.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <map>
#include <thread>

#include "io/fault_file_system.h"
#include "store/container_rocks_table.h"
#include "store/container_test_lab.h"

namespace stele::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

IOStatus Translated(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return IOStatus::PathNotFound(error.text);
    case ErrorCode::kFull:
      return IOStatus::NoSpace(error.text);
    default:
      return IOStatus::IOError(error.text);
  }
}
IOStatus Translated(const Status& status) {
  return status ? IOStatus::OK() : Translated(status.error());
}

// RocksDB writes "dir//file" and "dir/".
std::string Plain(const std::string& path) {
  std::string plain;
  for (const char c : path) {
    if (c != '/' || !plain.ends_with('/')) plain += c;
  }
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

class RocksReadableFile final : public rocksdb::FSRandomAccessFile,
                                public rocksdb::FSSequentialFile {
 public:
  explicit RocksReadableFile(std::unique_ptr<io::ReadableFile> file) : file_(std::move(file)) {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions&, rocksdb::Slice* result,
                char* scratch, IODebugContext*) const override {
    const Result<std::size_t> read = file_->ReadAt(offset, std::span(scratch, n));
    if (!read) return Translated(read.error());
    *result = rocksdb::Slice(scratch, *read);
    return IOStatus::OK();
  }
  IOStatus Read(std::size_t n, const IOOptions& options, rocksdb::Slice* result, char* scratch,
                IODebugContext* context) override {
    const IOStatus status = Read(offset_, n, options, result, scratch, context);
    if (status.ok()) offset_ += result->size();
    return status;
  }
  IOStatus Skip(std::uint64_t n) override {
    offset_ += n;
    return IOStatus::OK();
  }
  bool use_direct_io() const override { return false; }
  std::size_t GetRequiredBufferAlignment() const override { return 1; }
  IOStatus InvalidateCache(std::size_t, std::size_t) override { return IOStatus::OK(); }

 private:
  const std::unique_ptr<io::ReadableFile> file_;
  std::uint64_t offset_ = 0;
};

class RocksWritableFile final : public rocksdb::FSWritableFile {
 public:
  explicit RocksWritableFile(std::unique_ptr<io::WritableFile> file) : file_(std::move(file)) {}

  using rocksdb::FSWritableFile::Append;
  IOStatus Append(const rocksdb::Slice& data, const IOOptions&, IODebugContext*) override {
    size_ += data.size();
    return Translated(file_->Append(data.ToStringView()));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return Translated(file_->Sync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return Translated(file_->Close()); }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

 private:
  const std::unique_ptr<io::WritableFile> file_;
  std::uint64_t size_ = 0;
};

class RocksDirectory final : public rocksdb::FSDirectory {
 public:
  RocksDirectory(io::FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return Translated(fs_.SyncDirectory(path_));
  }

 private:
  io::FileSystem& fs_;
  const std::string path_;
};

class RocksLock final : public rocksdb::FileLock {
 public:
  explicit RocksLock(std::unique_ptr<io::FileLock> lock) : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<io::FileLock> lock_;
};

class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// RocksDB on one of our file systems.
class RocksFiles final : public rocksdb::FileSystem {
 public:
  explicit RocksFiles(io::FileSystem& fs) : fs_(fs) {}
  const char* Name() const override { return "RocksFiles"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext*) override {
    return OpenForReading(path, file);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext*) override {
    return OpenForReading(path, file);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext*) override {
    auto created = fs_.Create(Plain(path));
    if (!created) return Translated(created.error());
    *file = std::make_unique<RocksWritableFile>(*std::move(created));
    return IOStatus::OK();
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext*) override {
    *directory = std::make_unique<RocksDirectory>(fs_, Plain(path));
    return IOStatus::OK();
  }
  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    const Result<bool> exists = fs_.Exists(Plain(path));
    if (!exists) return Translated(exists.error());
    return *exists ? IOStatus::OK() : IOStatus::NotFound();
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* names,
                       IODebugContext*) override {
    Result<std::vector<std::string>> listed = fs_.List(Plain(path));
    if (!listed) return Translated(listed.error());
    *names = *std::move(listed);
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return Translated(fs_.Remove(Plain(path)));
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return Translated(fs_.MakeDirectory(Plain(path)));
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return Translated(fs_.MakeDirectory(Plain(path)));
  }
  IOStatus DeleteDir(const std::string&, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, std::uint64_t* size,
                       IODebugContext*) override {
    const auto file = fs_.OpenForReading(Plain(path));
    if (!file) return Translated(file.error());
    const Result<std::uint64_t> found = (*file)->Size();
    if (!found) return Translated(found.error());
    *size = *found;
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string&, const IOOptions&, std::uint64_t* time,
                                   IODebugContext*) override {
    *time = 0;
    return IOStatus::OK();
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    return Translated(fs_.Rename(Plain(from), Plain(to)));
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, rocksdb::FileLock** lock,
                    IODebugContext*) override {
    auto locked = fs_.Lock(Plain(path));
    if (!locked) return Translated(locked.error());
    *lock = std::make_unique<RocksLock>(*std::move(locked)).release();
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    const std::unique_ptr<rocksdb::FileLock> owned(lock);
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) override {
    return IOStatus::NotSupported();
  }
  IOStatus NewLogger(const std::string&, const IOOptions&, std::shared_ptr<rocksdb::Logger>* logger,
                     IODebugContext*) override {
    *logger = std::make_shared<NoLogger>();
    return IOStatus::OK();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    *absolute = path;
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                       IODebugContext*) override {
    *is_directory = fs_.List(Plain(path)).ok();
    return IOStatus::OK();
  }

 private:
  template <typename File>
  IOStatus OpenForReading(const std::string& path, std::unique_ptr<File>* file) {
    auto opened = fs_.OpenForReading(Plain(path));
    if (!opened) return Translated(opened.error());
    *file = std::make_unique<RocksReadableFile>(*std::move(opened));
    return IOStatus::OK();
  }

  io::FileSystem& fs_;
};

// RocksDB waits a second after each failure of the disk, in case it gets better. Ours does not.
class HastyClock final : public rocksdb::SystemClockWrapper {
 public:
  HastyClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "HastyClock"; }
  void SleepForMicroseconds(int) override { std::this_thread::yield(); }
};

class RocksMachine final : public rocksdb::EnvWrapper {
 public:
  explicit RocksMachine(io::FileSystem& fs)
      : EnvWrapper(rocksdb::NewCompositeEnv(std::make_shared<RocksFiles>(fs))) {
    system_clock_ = std::make_shared<HastyClock>();
  }
};

// A volume and its table on one disk, until the disk goes.
class Machine {
 public:
  explicit Machine(io::FileSystem& fs) : env_(fs) {
    auto table = OpenRocksBlockTableOn(env_, "table");
    if (!table) error_ = table.error().text;
    if (!table) return;
    ContainerVolume::Options options;
    options.log.container_bytes_max = 6000;
    options.log.copied_bytes_max = 2500;
    options.memory_bytes_max = 1000;
    auto volume = ContainerVolume::Open({fs, clock_, random_}, "v", *std::move(table), options);
    if (!volume) error_ = volume.error().text;
    if (volume) volume_ = *std::move(volume);
  }
  ContainerVolume* volume() { return volume_.get(); }
  const std::string& error() const { return error_; }

 private:
  RocksMachine env_;
  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SystemRandom random_;
  std::string error_;
  std::unique_ptr<ContainerVolume> volume_;
};

// Contents with their true counts, and the operation that got no answer.
class Client {
 public:
  explicit Client(io::Random& dice) : dice_(dice) {}

  // Stops at the first error.
  void Work(ContainerVolume& volume, int steps) {
    for (int i = 0; i < steps; ++i) {
      if (dice_.Next() % 25 == 0) {
        if (!volume.Compact({})) return;
        continue;
      }
      const int number = static_cast<int>(dice_.Next() % 25);
      const bool deletes = counts_[number] > 0 && dice_.Next() % 2 == 0;
      open_ = {deletes, number, fmt::format("o{}", ++operation_)};
      if (!Finish(volume)) return;
    }
  }

  // Does what got no answer once more, so that every count is known.
  bool Finish(ContainerVolume& volume) {
    if (open_.id.empty()) return true;
    const std::string content = ContentOf(open_.number);
    const bool done = open_.deletes ? volume.Delete(KeyOf(open_.number), {"me", open_.id}).ok()
                                    : StoreContent(volume, content, open_.id).ok();
    if (!done) return false;
    counts_[open_.number] += open_.deletes ? -1 : 1;
    open_.id.clear();
    return true;
  }

  void Verify(ContainerVolume& volume) const {
    std::uint64_t references = 0;
    for (const auto& [number, count] : counts_) {
      const Result<BlockInfo> info = volume.Stat(KeyOf(number));
      ASSERT_EQ(info ? static_cast<int>(info->references) : 0, count) << number;
      references += static_cast<std::uint64_t>(count);
      if (count == 0) continue;
      const Result<std::string> content = ReadContent(volume, KeyOf(number));
      ASSERT_TRUE(content) << content.error().text;
      ASSERT_EQ(*content, ContentOf(number));
    }
    ASSERT_EQ(volume.Stats()->references, references);
    for (const Finding& finding : FindingsOf(volume)) {
      ADD_FAILURE() << finding.where << ": " << finding.text;
    }
  }

 private:
  struct OpenOperation {
    bool deletes = false;
    int number = 0;
    std::string id;  // empty: none
  };

  static std::string ContentOf(int number) {
    return fmt::format("{} ", number) + NoiseOf(static_cast<std::size_t>(number) * 120, number);
  }
  static ContentKey KeyOf(int number) {
    return {"tomba", Sha256Signatures().Of(ContentOf(number)), 0};
  }

  io::Random& dice_;
  int operation_ = 0;
  std::map<int, int> counts_;
  OpenOperation open_;
};

TEST(ContainerPower, W4_VolumeAndTableSurviveThreeHundredPowerCuts) {
  int cut_at_work = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    io::SeededRandom dice(seed);
    io::MemoryFileSystem disk;
    ASSERT_TRUE(ContainerVolume::Create(disk, "v", {"tomba", "sha256", 0}));
    Client client(dice);
    for (int cut = 0; cut < 10; ++cut) {
      SCOPED_TRACE(fmt::format("seed {} cut {}", seed, cut));
      {
        io::FaultFileSystem faults(disk, 1 + static_cast<int>(dice.Next() % 1500));
        Machine machine(faults);
        if (machine.volume() != nullptr) client.Work(*machine.volume(), 60);
        if (faults.Fails()) ++cut_at_work;
        disk.Crash(dice);
      }
      Machine machine(disk);
      ASSERT_NE(machine.volume(), nullptr) << machine.error();
      EXPECT_TRUE(machine.volume()->damaged().empty());
      ASSERT_TRUE(client.Finish(*machine.volume()));
      client.Verify(*machine.volume());
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cut_at_work, 100);
}

}  // namespace
}  // namespace stele::store
