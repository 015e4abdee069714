#include "io/fault_file_system.h"

namespace stele::io {
namespace {

Error Injected(std::string_view what) {
  return {ErrorCode::kIo, std::string("injected fault: cannot ") + std::string(what)};
}

class FaultReadableFile final : public ReadableFile {
 public:
  FaultReadableFile(FaultFileSystem& faults, std::unique_ptr<ReadableFile> base)
      : faults_(faults), base_(std::move(base)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    if (faults_.Fails()) return Injected("read");
    return base_->ReadAt(offset, out);
  }
  Result<std::uint64_t> Size() const override {
    if (faults_.Fails()) return Injected("ask for a size");
    return base_->Size();
  }

 private:
  FaultFileSystem& faults_;
  std::unique_ptr<ReadableFile> base_;
};

class FaultWritableFile final : public WritableFile {
 public:
  FaultWritableFile(FaultFileSystem& faults, std::unique_ptr<WritableFile> base)
      : faults_(faults), base_(std::move(base)) {}

  Status Append(std::string_view bytes) override {
    if (!faults_.Fails()) return base_->Append(bytes);
    const Status half = base_->Append(bytes.substr(0, bytes.size() / 2));
    return half ? Status(Injected("write")) : half;
  }
  Status Truncate(std::uint64_t size) override {
    if (faults_.Fails()) return Injected("truncate");
    return base_->Truncate(size);
  }
  Status Sync() override {
    if (faults_.Fails()) return Injected("sync");
    return base_->Sync();
  }
  Status Close() override {
    if (faults_.Fails()) return Injected("close");
    return base_->Close();
  }

 private:
  FaultFileSystem& faults_;
  std::unique_ptr<WritableFile> base_;
};

class FaultUpdatableFile final : public UpdatableFile {
 public:
  FaultUpdatableFile(FaultFileSystem& faults, std::unique_ptr<UpdatableFile> base)
      : faults_(faults), base_(std::move(base)) {}

  Status WriteAt(std::uint64_t offset, std::string_view bytes) override {
    if (!faults_.Fails()) return base_->WriteAt(offset, bytes);
    const Status half = base_->WriteAt(offset, bytes.substr(0, bytes.size() / 2));
    return half ? Status(Injected("write")) : half;
  }
  Status Sync() override {
    if (faults_.Fails()) return Injected("sync");
    return base_->Sync();
  }

 private:
  FaultFileSystem& faults_;
  std::unique_ptr<UpdatableFile> base_;
};

class FaultDisk final : public Disk {
 public:
  FaultDisk(FaultFileSystem& faults, std::unique_ptr<Disk> base)
      : faults_(faults), base_(std::move(base)) {}

  Status Sync() override {
    if (faults_.Fails()) return Injected("sync the disk");
    return base_->Sync();
  }

 private:
  FaultFileSystem& faults_;
  std::unique_ptr<Disk> base_;
};

Result<std::unique_ptr<WritableFile>> Wrap(FaultFileSystem& faults,
                                           Result<std::unique_ptr<WritableFile>> file) {
  if (!file) return file.error();
  return std::unique_ptr<WritableFile>(
      std::make_unique<FaultWritableFile>(faults, *std::move(file)));
}

}  // namespace

Result<std::unique_ptr<ReadableFile>> FaultFileSystem::OpenForReading(const std::string& path) {
  if (Fails()) return Injected("open " + path);
  Result<std::unique_ptr<ReadableFile>> file = base_.OpenForReading(path);
  if (!file) return file.error();
  return std::unique_ptr<ReadableFile>(
      std::make_unique<FaultReadableFile>(*this, *std::move(file)));
}

Result<std::unique_ptr<WritableFile>> FaultFileSystem::Create(const std::string& path) {
  if (Fails()) return Injected("create " + path);
  return Wrap(*this, base_.Create(path));
}

Result<std::unique_ptr<WritableFile>> FaultFileSystem::OpenForAppending(const std::string& path) {
  if (Fails()) return Injected("open " + path);
  return Wrap(*this, base_.OpenForAppending(path));
}

Result<std::unique_ptr<UpdatableFile>> FaultFileSystem::OpenForUpdating(const std::string& path) {
  if (Fails()) return Injected("open " + path);
  Result<std::unique_ptr<UpdatableFile>> file = base_.OpenForUpdating(path);
  if (!file) return file.error();
  return std::unique_ptr<UpdatableFile>(
      std::make_unique<FaultUpdatableFile>(*this, *std::move(file)));
}

Status FaultFileSystem::Rename(const std::string& from, const std::string& to) {
  if (Fails()) return Injected("rename " + from);
  return base_.Rename(from, to);
}

Status FaultFileSystem::Remove(const std::string& path) {
  if (Fails()) return Injected("remove " + path);
  return base_.Remove(path);
}

Status FaultFileSystem::MakeDirectory(const std::string& path) {
  if (Fails()) return Injected("make the directory " + path);
  return base_.MakeDirectory(path);
}

Result<std::vector<std::string>> FaultFileSystem::List(const std::string& directory) {
  if (Fails()) return Injected("list " + directory);
  return base_.List(directory);
}

Result<bool> FaultFileSystem::Exists(const std::string& path) {
  if (Fails()) return Injected("look at " + path);
  return base_.Exists(path);
}

Result<std::uint64_t> FaultFileSystem::FreeBytes(const std::string& directory) {
  if (Fails()) return Injected("ask for the space in " + directory);
  return base_.FreeBytes(directory);
}

Result<std::unique_ptr<FileLock>> FaultFileSystem::Lock(const std::string& path) {
  if (Fails()) return Injected("lock " + path);
  return base_.Lock(path);
}

Status FaultFileSystem::SyncDirectory(const std::string& directory) {
  if (Fails()) return Injected("sync the directory " + directory);
  return base_.SyncDirectory(directory);
}

Result<std::unique_ptr<Disk>> FaultFileSystem::OpenDisk(const std::string& directory) {
  if (Fails()) return Injected("open the disk of " + directory);
  Result<std::unique_ptr<Disk>> disk = base_.OpenDisk(directory);
  if (!disk) return disk;
  return std::unique_ptr<Disk>(std::make_unique<FaultDisk>(*this, *std::move(disk)));
}

}  // namespace stele::io
