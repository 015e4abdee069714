#include "io/memory_file_system.h"

#include <algorithm>
#include <set>

namespace stele::io {

// What the disk has left; files take from it and give back.
struct MemoryFileSystem::Space {
  std::mutex mutex;
  std::uint64_t free_bytes = std::uint64_t{1} << 40;

  // How many of `wanted` bytes there are.
  std::uint64_t Take(std::uint64_t wanted) {
    const std::lock_guard lock(mutex);
    const std::uint64_t taken = std::min(wanted, free_bytes);
    free_bytes -= taken;
    return taken;
  }
  void Give(std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    free_bytes += bytes;
  }
};

struct MemoryFileSystem::File {
  explicit File(std::shared_ptr<Space> on) : space(std::move(on)) {}
  ~File() { space->Give(content.size()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void Cut(std::size_t size) {
    space->Give(content.size() - size);
    content.resize(size);
  }

  const std::shared_ptr<Space> space;
  std::mutex mutex;
  std::string content;
  std::string synced;
};

struct MemoryFileSystem::LockedPaths {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Names as programs see them, and as they would be found after a crash.
struct MemoryFileSystem::Directory {
  std::map<std::string, FilePointer> files;
  std::map<std::string, FilePointer> synced_files;
  bool synced = false;  // its own name survives a crash
};

namespace {

class MemoryReadableFile final : public ReadableFile {
 public:
  explicit MemoryReadableFile(std::shared_ptr<MemoryFileSystem::File> file)
      : file_(std::move(file)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    const std::lock_guard lock(file_->mutex);
    if (offset >= file_->content.size()) return std::size_t{0};
    return file_->content.copy(out.data(), out.size(), offset);
  }

  Result<std::uint64_t> Size() const override {
    const std::lock_guard lock(file_->mutex);
    return std::uint64_t{file_->content.size()};
  }

 private:
  std::shared_ptr<MemoryFileSystem::File> file_;
};

class MemoryWritableFile final : public WritableFile {
 public:
  explicit MemoryWritableFile(std::shared_ptr<MemoryFileSystem::File> file)
      : file_(std::move(file)) {}

  Status Append(std::string_view bytes) override {
    const std::lock_guard lock(file_->mutex);
    const std::uint64_t taken = file_->space->Take(bytes.size());
    file_->content += bytes.substr(0, taken);
    if (taken < bytes.size()) return Error{ErrorCode::kFull, "cannot write: the disk is full"};
    return {};
  }

  Status Truncate(std::uint64_t size) override {
    const std::lock_guard lock(file_->mutex);
    if (size > file_->content.size()) {
      return Error{ErrorCode::kInvalid, "cannot cut a file to more than there is"};
    }
    file_->Cut(size);
    return {};
  }

  Status Sync() override {
    const std::lock_guard lock(file_->mutex);
    file_->synced = file_->content;
    return {};
  }

  Status Close() override { return {}; }

 private:
  std::shared_ptr<MemoryFileSystem::File> file_;
};

class MemoryUpdatableFile final : public UpdatableFile {
 public:
  explicit MemoryUpdatableFile(std::shared_ptr<MemoryFileSystem::File> file)
      : file_(std::move(file)) {}

  Status WriteAt(std::uint64_t offset, std::string_view bytes) override {
    const std::lock_guard lock(file_->mutex);
    std::string& content = file_->content;
    if (offset > content.size() || bytes.size() > content.size() - offset) {
      return Error{ErrorCode::kInvalid, "cannot write beyond the end of a file"};
    }
    content.replace(offset, bytes.size(), bytes);
    return {};
  }

  Status Sync() override {
    const std::lock_guard lock(file_->mutex);
    file_->synced = file_->content;
    return {};
  }

 private:
  std::shared_ptr<MemoryFileSystem::File> file_;
};

class MemoryDisk final : public Disk {
 public:
  explicit MemoryDisk(MemoryFileSystem& fs) : fs_(fs) {}
  Status Sync() override {
    fs_.SyncAll();
    return {};
  }

 private:
  MemoryFileSystem& fs_;
};

class MemoryFileLock final : public FileLock {
 public:
  MemoryFileLock(std::shared_ptr<MemoryFileSystem::LockedPaths> locked, std::string path)
      : locked_(std::move(locked)), path_(std::move(path)) {}
  ~MemoryFileLock() override {
    const std::lock_guard lock(locked_->mutex);
    locked_->paths.erase(path_);
  }

 private:
  std::shared_ptr<MemoryFileSystem::LockedPaths> locked_;
  std::string path_;
};

std::string SurvivorOf(const std::string& content, const std::string& synced, Random& dice) {
  if (!content.starts_with(synced)) return dice.Next() % 2 == 0 ? content : synced;
  // All the bytes may have got their place and not their values.
  const std::size_t unsynced = content.size() - synced.size();
  const std::size_t kept = dice.Next() % 3 == 0 ? unsynced : dice.Next() % (unsynced + 1);
  std::string survivor = content.substr(0, synced.size() + kept);
  const std::size_t garbled = std::min<std::size_t>(kept, dice.Next() % 1024);
  for (std::size_t i = 0; i < garbled; ++i) {
    survivor[survivor.size() - 1 - i] = static_cast<char>(dice.Next());
  }
  return survivor;
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The paths of the directories in `directory`; those further down are skipped, not visited.
template <typename Directories>
std::vector<std::string> ChildrenOf(const Directories& directories, const std::string& directory) {
  std::vector<std::string> children;
  const auto add = [&](const std::string& prefix) {
    auto at = directories.lower_bound(prefix);
    while (at != directories.end() && at->first.starts_with(prefix)) {
      const std::string& path = at->first;
      const std::size_t slash = path.find('/', prefix.size());
      if (slash == std::string::npos) {
        if (path != directory) children.push_back(path);
        ++at;
      } else {
        at = directories.lower_bound(path.substr(0, slash) + static_cast<char>('/' + 1));
      }
    }
  };
  if (directory == ".") add("");  // "a" is in it, as "./a" is
  add(directory == "/" ? directory : directory + '/');
  return children;
}

Error NotFound(std::string_view what, const std::string& path) {
  return {ErrorCode::kNotFound, std::string(what) + ' ' + path + ": no such file or directory"};
}

}  // namespace

MemoryFileSystem::MemoryFileSystem()
    : space_(std::make_shared<Space>()), locked_(std::make_shared<LockedPaths>()) {
  for (const char* root : {".", "/"}) {
    directories_[root] = std::make_unique<Directory>();
    directories_[root]->synced = true;
  }
}

MemoryFileSystem::~MemoryFileSystem() = default;

MemoryFileSystem::Directory* MemoryFileSystem::DirectoryOf(const std::string& path) {
  const auto found = directories_.find(ParentDirectory(path));
  return found == directories_.end() ? nullptr : found->second.get();
}

MemoryFileSystem::FilePointer MemoryFileSystem::FileAt(const std::string& path) {
  const Directory* directory = DirectoryOf(path);
  if (directory == nullptr) return nullptr;
  const auto found = directory->files.find(NameOf(path));
  return found == directory->files.end() ? nullptr : found->second;
}

Result<std::unique_ptr<ReadableFile>> MemoryFileSystem::OpenForReading(const std::string& path) {
  const std::lock_guard lock(mutex_);
  FilePointer file = FileAt(path);
  if (file == nullptr) return NotFound("cannot open", path);
  return std::unique_ptr<ReadableFile>(std::make_unique<MemoryReadableFile>(std::move(file)));
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::Create(const std::string& path) {
  const std::lock_guard lock(mutex_);
  Directory* directory = DirectoryOf(path);
  if (directory == nullptr) return NotFound("cannot create", path);
  FilePointer& file = directory->files[NameOf(path)];
  // An existing file keeps its identity and its synced content, as with O_TRUNC.
  if (file == nullptr) file = std::make_shared<File>(space_);
  {
    const std::lock_guard file_lock(file->mutex);
    file->Cut(0);
  }
  return std::unique_ptr<WritableFile>(std::make_unique<MemoryWritableFile>(file));
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::OpenForAppending(const std::string& path) {
  const std::lock_guard lock(mutex_);
  Directory* directory = DirectoryOf(path);
  if (directory == nullptr) return NotFound("cannot create", path);
  FilePointer& file = directory->files[NameOf(path)];
  if (file == nullptr) file = std::make_shared<File>(space_);
  return std::unique_ptr<WritableFile>(std::make_unique<MemoryWritableFile>(file));
}

Result<std::unique_ptr<UpdatableFile>> MemoryFileSystem::OpenForUpdating(const std::string& path) {
  const std::lock_guard lock(mutex_);
  FilePointer file = FileAt(path);
  if (file == nullptr) return NotFound("cannot open", path);
  return std::unique_ptr<UpdatableFile>(std::make_unique<MemoryUpdatableFile>(std::move(file)));
}

Status MemoryFileSystem::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  FilePointer file = FileAt(from);
  Directory* target = DirectoryOf(to);
  if (file == nullptr || target == nullptr) return NotFound("cannot rename", from);
  DirectoryOf(from)->files.erase(NameOf(from));
  target->files[NameOf(to)] = std::move(file);
  return {};
}

Status MemoryFileSystem::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto directory = directories_.find(path); directory != directories_.end()) {
    const bool root = path == "." || path == "/";
    if (root || !directory->second->files.empty() || !ChildrenOf(directories_, path).empty()) {
      return Error{ErrorCode::kInvalid, "cannot remove " + path + ": it is not empty"};
    }
    directories_.erase(directory);
    return {};
  }
  if (FileAt(path) == nullptr) return NotFound("cannot remove", path);
  DirectoryOf(path)->files.erase(NameOf(path));
  return {};
}

Status MemoryFileSystem::MakeDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (DirectoryOf(path) == nullptr) return NotFound("cannot make the directory", path);
  std::unique_ptr<Directory>& directory = directories_[path];
  if (directory == nullptr) directory = std::make_unique<Directory>();
  return {};
}

Result<std::vector<std::string>> MemoryFileSystem::List(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  const auto found = directories_.find(directory);
  if (found == directories_.end()) return NotFound("cannot list", directory);
  std::vector<std::string> names;
  for (const auto& [name, file] : found->second->files) names.push_back(name);
  for (const std::string& path : ChildrenOf(directories_, directory)) names.push_back(NameOf(path));
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> MemoryFileSystem::Exists(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return FileAt(path) != nullptr || directories_.contains(path);
}

Result<std::uint64_t> MemoryFileSystem::FreeBytes(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  if (!directories_.contains(directory)) return NotFound("cannot ask for the space in", directory);
  const std::lock_guard space_lock(space_->mutex);
  return space_->free_bytes;
}

void MemoryFileSystem::SetFreeBytes(std::uint64_t bytes) {
  const std::lock_guard lock(space_->mutex);
  space_->free_bytes = bytes;
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::Lock(const std::string& path) {
  const std::lock_guard lock(mutex_);
  Directory* directory = DirectoryOf(path);
  if (directory == nullptr) return NotFound("cannot lock", path);
  const std::lock_guard locked_lock(locked_->mutex);
  if (!locked_->paths.insert(path).second) {
    return Error{ErrorCode::kBusy, "cannot lock " + path + ": somebody else has it"};
  }
  FilePointer& file = directory->files[NameOf(path)];
  if (file == nullptr) file = std::make_shared<File>(space_);
  return std::unique_ptr<FileLock>(std::make_unique<MemoryFileLock>(locked_, path));
}

Status MemoryFileSystem::SyncDirectory(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  const auto found = directories_.find(directory);
  if (found == directories_.end()) return NotFound("cannot sync the directory", directory);
  found->second->synced_files = found->second->files;
  for (const std::string& path : ChildrenOf(directories_, directory)) {
    directories_[path]->synced = true;
  }
  return {};
}

void MemoryFileSystem::SyncAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, directory] : directories_) {
    directory->synced = true;
    directory->synced_files = directory->files;
    for (const auto& [name, file] : directory->files) {
      const std::lock_guard file_lock(file->mutex);
      file->synced = file->content;
    }
  }
}

Result<std::unique_ptr<Disk>> MemoryFileSystem::OpenDisk(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  if (!directories_.contains(directory)) return NotFound("cannot open the disk of", directory);
  return std::unique_ptr<Disk>(std::make_unique<MemoryDisk>(*this));
}

void MemoryFileSystem::Crash(Random& dice) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [path, directory] : directories_) {
      if (dice.Next() % 2 == 0) directory->synced_files = directory->files;
      for (const auto& [name, file] : directory->synced_files) {
        const std::lock_guard file_lock(file->mutex);
        file->synced = SurvivorOf(file->content, file->synced, dice);
      }
    }
  }
  Crash();
}

void MemoryFileSystem::Crash() {
  const std::lock_guard lock(mutex_);
  locked_ = std::make_shared<LockedPaths>();
  std::erase_if(directories_, [](const auto& entry) { return !entry.second->synced; });
  for (auto& [path, directory] : directories_) {
    directory->files.clear();
    for (const auto& [name, file] : directory->synced_files) {
      const std::lock_guard file_lock(file->mutex);
      auto survivor = std::make_shared<File>(space_);
      survivor->content = survivor->synced = file->synced;
      directory->files[name] = std::move(survivor);
    }
    directory->synced_files = directory->files;
  }
  // What was lost has been given back by now.
  for (const auto& [path, directory] : directories_) {
    for (const auto& [name, file] : directory->files) {
      static_cast<void>(space_->Take(file->content.size()));
    }
  }
}

}  // namespace stele::io
