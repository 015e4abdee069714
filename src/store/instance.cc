#include "store/instance.h"

#include <fmt/format.h>

#include <thread>

#include "store/home_search.h"
#include "store/volume_rules.h"
#include "util/check.h"

namespace stele::store {

using std::chrono::steady_clock;

namespace {

constexpr std::size_t kPiece = 64 << 10;
constexpr std::size_t kEpochsMax = 4;  // that go by while one content is stored
constexpr std::chrono::milliseconds kLagPause{20};
constexpr int kMovesMax = 16;  // of one content

// Reads part of a file as a stream. Borrows the file.
class BorrowedFileSource final : public io::Source {
 public:
  explicit BorrowedFileSource(const io::ReadableFile& file) : file_(file) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = file_.ReadAt(offset_, out);
    if (read) offset_ += *read;
    return read;
  }

 private:
  const io::ReadableFile& file_;
  std::uint64_t offset_ = 0;
};

Error UnknownVolume(std::string_view name) {
  return {ErrorCode::kNotFound, fmt::format("there is no volume {} here", name)};
}

}  // namespace

// A content that can be read as often as needed, with its size and signature.
class Instance::Content {
 public:
  explicit Content(std::string_view bytes) : bytes_(bytes) {}
  explicit Content(const io::ReadableFile& file) : file_(&file) {}

  Status Sign(const SignatureFunction& function) {
    if (file_ == nullptr) {
      size_ = bytes_.size();
      signature_ = function.Of(bytes_);
      return {};
    }
    const std::unique_ptr<SignatureStream> signing = function.NewStream();
    const std::unique_ptr<io::Source> source = Read();
    std::string piece(kPiece, '\0');
    for (;;) {
      const Result<std::size_t> read = source->Read(piece);
      if (!read) return read.error();
      if (*read == 0) break;
      signing->Update(std::string_view(piece).substr(0, *read));
      size_ += *read;
    }
    signature_ = signing->Finish();
    return {};
  }

  std::unique_ptr<io::Source> Read() const {
    if (file_ != nullptr) return std::make_unique<BorrowedFileSource>(*file_);
    return std::make_unique<io::MemorySource>(bytes_);
  }

  // Requires: Sign() succeeded.
  const Signature& signature() const { return *signature_; }
  std::uint64_t size() const { return size_; }

 private:
  std::string_view bytes_;
  const io::ReadableFile* file_ = nullptr;  // null: bytes_
  std::uint64_t size_ = 0;
  std::optional<Signature> signature_;
};

Instance::Instance(Composed composed, Options options) : options_(std::move(options)) {
  Check(composed.composition.epoch > 0 && options_.signature != nullptr);
  Take(std::move(composed));
}

Instance::~Instance() = default;

std::shared_ptr<Team> Instance::team() const {
  const std::lock_guard lock(mutex_);
  return team_;
}

// Members of an older epoch may still be in use; without new ones the old ones go on.
void Instance::Take(Composed composed) {
  const std::lock_guard lock(mutex_);
  std::vector<MemberVolume*> members;
  if (composed.members.empty()) {
    for (const auto& member : members_) members.push_back(member.get());
  }
  for (auto& member : composed.members) {
    members.push_back(member.get());
    members_.push_back(std::move(member));
  }
  team_ = std::make_shared<Team>(std::move(composed.composition), std::move(composed.connector),
                                 std::move(members), options_.down_time);
}

// A volume without an instance joins the one that wants to use it; a newer epoch is taken over.
Status Instance::Renew(const Team& team, MemberVolume& outdated) {
  const std::lock_guard lock(renewing_);
  const Result<Membership> membership = outdated.GetMembership();
  if (!membership) return membership.error();
  const std::uint64_t epoch = membership->composition.epoch;
  if (epoch == 0 && outdated.Join(team.composition(), team.connector(), true)) return {};
  if (epoch < team.composition().epoch) {
    return Error{ErrorCode::kOutdated,
                 fmt::format("volume {} is in epoch {} and the instance in epoch {}: run stele "
                             "store rehome",
                             outdated.name(), epoch, team.composition().epoch)};
  }
  // Another thread may have been here before.
  if (epoch <= this->team()->composition().epoch) return {};
  if (options_.recompose == nullptr) {
    Take({membership->composition, membership->connector, {}});
    return {};
  }
  Result<Composed> composed = options_.recompose(*membership);
  if (!composed) return composed.error();
  Take(*std::move(composed));
  return {};
}

Result<Stored> Instance::Store(std::string_view content, const StoreOptions& options) {
  Content signed_content(content);
  const Status done = signed_content.Sign(*options_.signature);
  if (!done) return done.error();
  return StoreContent(signed_content, options);
}

// A pipe goes to memory, and to a file once it is too large for that.
Result<Stored> Instance::Store(io::Source& content, const StoreOptions& options) {
  if (content.file() != nullptr) {
    Content signed_content(*content.file());
    const Status done = signed_content.Sign(*options_.signature);
    if (!done) return done.error();
    return StoreContent(signed_content, options);
  }
  std::string head;
  std::string piece(kPiece, '\0');
  while (head.size() <= options_.memory_bytes_max) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) return read.error();
    if (*read == 0) return Store(std::string_view(head), options);
    head.append(piece, 0, *read);
  }
  if (options_.fs == nullptr) {
    return Error{ErrorCode::kFull, fmt::format("contents of more than {} bytes need a file or a "
                                               "temporary directory",
                                               options_.memory_bytes_max)};
  }
  const std::string path =
      fmt::format("{}/content-{}", options_.temporary_directory, ++temporary_number_);
  Result<std::unique_ptr<io::WritableFile>> file = options_.fs->Create(path);
  if (!file) return file.error();
  Status status = (*file)->Append(head);
  while (status) {
    const Result<std::size_t> read = content.Read(piece);
    if (!read) status = read.error();
    if (!read || *read == 0) break;
    status = (*file)->Append(std::string_view(piece).substr(0, *read));
  }
  const Status closed = (*file)->Close();
  if (status) status = closed;
  Result<Stored> stored = Error{ErrorCode::kIo, "not stored"};
  if (status) {
    Result<std::unique_ptr<io::ReadableFile>> again = options_.fs->OpenForReading(path);
    if (!again) status = again.error();
    if (again) {
      io::FileSource source(*std::move(again));
      stored = Store(source, options);
    }
  }
  // The content is stored, or it is not: a leftover file changes neither.
  static_cast<void>(options_.fs->Remove(path).ok());
  if (!status) return status.error();
  return stored;
}

Result<Stored> Instance::StoreContent(const Content& content, const StoreOptions& options) {
  StoreRequest request{content.signature(), content.size(), options.mode, options.media_type,
                       options.operation};
  request.codec = options.codec;
  const Status good = CheckOperation(request.operation);
  if (!good) return good.error();
  std::optional<ContentKey> made;
  const auto lag_end = steady_clock::now() + options_.lag_time;
  for (std::size_t renewals = 0;; ++renewals) {
    const std::shared_ptr<Team> team = this->team();
    request.home.epoch = team->composition().epoch;
    HomeSearch search(
        *team, request, [&] { return content.Read(); }, made, options_.busy_time);
    Result<Stored> stored = Error{ErrorCode::kNotFound, ""};
    if (options.volume) {
      MemberVolume* member = team->Find(*options.volume);
      if (member == nullptr) return UnknownVolume(*options.volume);
      stored = search.StoreAt(*member);
    } else {
      stored = search.Store();
    }
    if (stored || stored.error().code != ErrorCode::kOutdated) return stored;
    // Each member may have to join, and some epochs may go by.
    const std::size_t renewals_max = team->composition().volumes.size() + kEpochsMax;
    if (search.outdated() == nullptr || renewals == renewals_max) return stored;
    const Status renewed = Renew(*team, *search.outdated());
    if (renewed) continue;
    // While an epoch begins, members come to it one after another.
    if (renewed.error().code != ErrorCode::kOutdated || steady_clock::now() > lag_end) {
      return renewed.error();
    }
    --renewals;
    std::this_thread::sleep_for(kLagPause);
  }
}

// ---- Reading and deleting ----

// Asks the key's volume, or all members in order when it is not here: the home knows of the move,
// and so does the volume with the new key.
Result<std::optional<ContentKey>> Instance::AskForMove(const Team& team, const ContentKey& key) {
  std::vector<MemberVolume*> members = {team.Find(key.volume)};
  if (members.front() == nullptr) members = team.OrderFor(key.signature);
  Result<std::optional<ContentKey>> answer = std::optional<ContentKey>();
  for (MemberVolume* member : members) {
    Result<std::optional<ContentKey>> moved = member->MovedTo(key);
    if (moved && *moved) return moved;
    if (!moved) answer = moved;
  }
  return answer;
}

// A key that its volume does not know may have moved. One whose volume is not here may be of a
// newer epoch, or of a volume that has left the instance.
template <typename Value, typename Use>
Result<Value> Instance::FollowKey(ContentKey key, const Use& use) {
  std::shared_ptr<Team> team = this->team();
  for (int moves = 0;; ++moves) {
    MemberVolume* member = team->Find(key.volume);
    Result<Value> used = UnknownVolume(key.volume);
    if (member != nullptr) used = use(*member, key);
    if (used || used.error().code != ErrorCode::kNotFound || moves == kMovesMax) return used;
    if (member == nullptr) {
      const Composition& composition = team->composition();
      member = team->Find(composition.volumes[composition.HomeOf(key.signature)]);
      if (member != nullptr && !Renew(*team, *member)) return used;
      if (this->team() != team) {
        team = this->team();
        continue;
      }
    }
    Result<std::optional<ContentKey>> moved = AskForMove(*team, key);
    if (!moved || !*moved) return used;
    key = **std::move(moved);
  }
}

Result<ContentKey> Instance::Resolve(const ContentKey& key) const {
  const std::shared_ptr<Team> team = this->team();
  ContentKey now = key;
  for (int moves = 0; moves < kMovesMax; ++moves) {
    Result<std::optional<ContentKey>> moved = AskForMove(*team, now);
    if (!moved) return moved.error();
    if (!*moved) break;
    now = **std::move(moved);
  }
  return now;
}

Result<std::unique_ptr<io::Source>> Instance::Retrieve(const ContentKey& key) {
  return FollowKey<std::unique_ptr<io::Source>>(
      key, [](Volume& volume, const ContentKey& at) { return volume.Retrieve(at); });
}

Result<std::unique_ptr<io::Source>> Instance::RetrieveRange(const ContentKey& key,
                                                            std::uint64_t offset,
                                                            std::uint64_t length) {
  return FollowKey<std::unique_ptr<io::Source>>(key, [&](Volume& volume, const ContentKey& at) {
    return volume.RetrieveRange(at, offset, length);
  });
}

// A content that is moving may have the reference at its other place for a moment.
Status Instance::Delete(const ContentKey& key, const Operation& operation) {
  const auto begin = steady_clock::now();
  for (;;) {
    const Status deleted = FollowKey<void>(
        key, [&](Volume& volume, const ContentKey& at) { return volume.Delete(at, operation); });
    const bool is_busy = !deleted && deleted.error().code == ErrorCode::kBusy;
    if (!is_busy || steady_clock::now() - begin > options_.busy_time) return deleted;
    std::this_thread::sleep_for(kLagPause);
  }
}

Result<BlockInfo> Instance::Stat(const ContentKey& key) {
  return FollowKey<BlockInfo>(key,
                              [](Volume& volume, const ContentKey& at) { return volume.Stat(at); });
}

Result<std::unique_ptr<io::Source>> Instance::RetrieveAny(std::span<const ContentKey> replicas) {
  Check(!replicas.empty());
  std::optional<Error> error;
  for (const ContentKey& key : replicas) {
    Result<std::unique_ptr<io::Source>> content = Retrieve(key);
    if (content) return content;
    error = content.error();
  }
  return *error;
}

}  // namespace stele::store
