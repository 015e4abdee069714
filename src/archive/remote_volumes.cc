// Records are read at their places, a few at a time, so parts of containers are fetched in pieces
// of one size and kept for a while: the begin of a file, which says what it is, and its
// neighbourhood, where the next record lies. Who reads a whole file gets it past the cache.
#include "archive/remote_volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "store/remote/connect.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::archive {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{16} << 20;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
// Whole containers come and go in one answer; a server that stops sending is noticed before.
constexpr std::chrono::hours kTransferTime{24};
constexpr std::string_view kMediaType = "application/warc";
// A release is an operation of its own.
constexpr std::string_view kReleased = "-released";

Error Named(const std::string& volume, const Error& error) {
  return {error.code, fmt::format("volume {} of the archive: {}", volume, error.text)};
}

}  // namespace

struct RemoteVolumes::Connection {
  store::RemoteStore store;
  std::string owner;
};

RemoteVolumes::RemoteVolumes(io::FileSystem& fs, std::shared_ptr<const ArchiveLayout> layout)
    : fs_(fs), layout_(std::move(layout)), cache_(kCacheBytes) {}

RemoteVolumes::~RemoteVolumes() = default;

Result<std::string> RemoteVolumes::ReadToken(const ArchiveConfig::Volume& volume) {
  if (volume.token_file.empty()) return std::string();
  Result<std::string> token = io::ReadFile(fs_, layout_->PathInArchive(volume.token_file));
  if (!token) return token.error();
  return std::string(TrimSpace(*token));
}

Result<std::shared_ptr<RemoteVolumes::Connection>> RemoteVolumes::Connect(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = connections_.find(name); found != connections_.end()) {
    return found->second;
  }
  const ArchiveConfig::Volume* volume = layout_->FindVolume(name);
  if (volume == nullptr || volume->connector.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("volume {} with its connector is not in {}; add it again", name,
                             ArchiveLayout::ConfigPath(layout_->directory()))};
  }
  Result<std::string> token = ReadToken(*volume);
  if (!token) return Named(name, token.error());
  store::ConnectOptions options;
  options.token = *std::move(token);
  options.total_timeout = kTransferTime;
  Result<store::RemoteStore> store =
      store::ConnectFile(fs_, layout_->PathInArchive(volume->connector), options);
  if (!store) return Named(name, store.error());
  auto connection =
      std::make_shared<Connection>(Connection{*std::move(store), volume->owner_name()});
  connections_.emplace(name, connection);
  return connection;
}

Result<std::string> RemoteVolumes::Put(const std::string& volume, io::Source& file,
                                       const std::string& operation) {
  Check(file.file() != nullptr);
  Result<std::shared_ptr<Connection>> connection = Connect(volume);
  if (!connection) return connection.error();
  store::Instance::StoreOptions options;
  // Where another content may have the same signature, bytes are compared.
  const bool is_unique = (*connection)->store.connector.signature == "sha256";
  options.mode = is_unique ? store::StoreMode::kRegular : store::StoreMode::kCompare;
  options.media_type = kMediaType;
  options.codec = "identity";  // so that parts can be read
  options.operation = {(*connection)->owner, operation};
  const Result<store::Stored> stored = (*connection)->store.instance->Store(file, options);
  if (!stored) return Named(volume, stored.error());
  return stored->key.Text();
}

Status RemoteVolumes::Release(const std::string& volume, const std::string& key,
                              const std::string& operation) {
  Result<std::shared_ptr<Connection>> connection = Connect(volume);
  if (!connection) return connection.error();
  const std::optional<store::ContentKey> content = store::ContentKey::Parse(key);
  if (!content) return Named(volume, {ErrorCode::kCorrupt, key + " is no content key"});
  const Status released =
      (*connection)
          ->store.instance->Delete(*content,
                                   {(*connection)->owner, operation + std::string(kReleased)});
  if (!released && released.error().code != ErrorCode::kNotFound) {
    return Named(volume, released.error());
  }
  return {};
}

Result<bool> RemoteVolumes::Has(const RemoteFile& file) {
  Result<std::shared_ptr<Connection>> connection = Connect(file.volume);
  if (!connection) return connection.error();
  const std::optional<store::ContentKey> key = store::ContentKey::Parse(file.key);
  if (!key) return Named(file.volume, {ErrorCode::kCorrupt, file.key + " is no content key"});
  const Result<store::BlockInfo> info = (*connection)->store.instance->Stat(*key);
  if (info) return true;
  if (info.error().code == ErrorCode::kNotFound) return false;
  return Named(file.volume, info.error());
}

Status RemoteVolumes::Fetch(const RemoteFile& file, std::uint64_t offset, std::span<char> out) {
  Result<std::shared_ptr<Connection>> connection = Connect(file.volume);
  if (!connection) return connection.error();
  const std::optional<store::ContentKey> key = store::ContentKey::Parse(file.key);
  if (!key) return Named(file.volume, {ErrorCode::kCorrupt, file.key + " is no content key"});
  const auto once = [&]() -> Status {
    Result<std::unique_ptr<io::Source>> part =
        (*connection)->store.instance->RetrieveRange(*key, offset, out.size());
    if (!part) return part.error();
    for (std::span<char> room = out; !room.empty();) {
      const Result<std::size_t> read = (*part)->Read(room);
      if (!read) return read.error();
      if (*read == 0) return Error{ErrorCode::kCorrupt, file.key + ": it is shorter than it was"};
      room = room.subspan(*read);
    }
    return {};
  };
  Status fetched = once();
  // A connection may break in the midst of an answer.
  if (!fetched && fetched.error().code == ErrorCode::kIo) fetched = once();
  if (!fetched) return Named(file.volume, fetched.error());
  return {};
}

std::uint64_t RemoteVolumes::CacheNumberOf(const RemoteFile& file) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = cache_numbers_.try_emplace(file.volume + '/' + file.key, 0);
  if (is_new) entry->second = cache_.NewFile();
  return entry->second;
}

Result<catalog::Page> RemoteVolumes::FetchPage(const RemoteFile& file, std::uint32_t number) {
  const std::uint64_t cached = CacheNumberOf(file);
  if (catalog::Page page = cache_.Find(cached, number)) return page;
  const std::uint64_t begin = std::uint64_t{number} * kPieceBytes;
  auto piece =
      std::make_shared<std::string>(std::min<std::uint64_t>(kPieceBytes, file.bytes - begin), '\0');
  if (const Status fetched = Fetch(file, begin, *piece); !fetched) return fetched.error();
  catalog::Page page = std::move(piece);
  cache_.Insert(cached, number, page);
  return page;
}

Result<std::size_t> RemoteVolumes::Read(const RemoteFile& file, std::uint64_t offset,
                                        std::span<char> out) {
  const bool wants_all = out.size() >= kPieceBytes;
  const std::uint64_t left = file.bytes - std::min(offset, file.bytes);
  out = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left)));
  if (wants_all && !out.empty()) {
    const Status fetched = Fetch(file, offset, out);
    return fetched ? Result<std::size_t>(out.size()) : fetched.error();
  }
  for (std::span<char> room = out; !room.empty();) {
    Result<catalog::Page> page = FetchPage(file, static_cast<std::uint32_t>(offset / kPieceBytes));
    if (!page) return page.error();
    const std::string_view rest = std::string_view(**page).substr(offset % kPieceBytes);
    const std::size_t size = std::min(rest.size(), room.size());
    std::copy_n(rest.begin(), size, room.begin());
    room = room.subspan(size);
    offset += size;
  }
  return out.size();
}

}  // namespace stele::archive
