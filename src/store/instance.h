#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "store/team.h"

namespace stele::store {

// Several volumes as one store. Any number of applications share it, each by its own owner name.
// Thread-safe. All volumes have the same signature function.
//
// Each content has a home among the members, which is asked where it lies: one request, however
// many members there are. When a member knows a newer composition, it is taken over, and what was
// asked is asked again.
class Instance {
 public:
  // What the members are in an epoch.
  struct Composed {
    Composition composition = {};
    std::string connector = {};  // handed to members that join; may be empty
    // One for each volume of the composition; those that are missing do not answer.
    std::vector<std::unique_ptr<MemberVolume>> members = {};
  };

  struct Options {
    std::shared_ptr<const SignatureFunction> signature = {};  // never null
    // Where contents that can be read only once wait until their signature is known, when they
    // have more than `memory_bytes_max` bytes. `fs` is borrowed for life.
    io::FileSystem* fs = nullptr;
    std::string temporary_directory = {};
    std::uint64_t memory_bytes_max = 1 << 20;
    // A member that failed is not asked again for so long where another can stand in for it.
    std::chrono::milliseconds down_time{5'000};
    // How long a content is waited for that others are storing or moving. A claim ends after some
    // seconds, whatever becomes of the client that has it.
    std::chrono::milliseconds busy_time{60'000};
    // How long members may be in different epochs: one begins, and that takes a moment.
    std::chrono::milliseconds lag_time{5'000};
    // Makes the members of a newer epoch, by what one of them says. Null: they are the same.
    std::function<Result<Composed>(const Membership& newer)> recompose = {};
  };

  struct StoreOptions {
    StoreMode mode = StoreMode::kRegular;
    std::string media_type = {};
    Operation operation = {};
    // Search and store here and nowhere else: for a client's own balancing, and for replicas.
    std::optional<std::string> volume = {};
    std::string codec = {};  // as in StoreRequest
  };

  // Requires: an epoch from 1, one volume at least, names all different.
  Instance(Composed composed, Options options);
  ~Instance();

  Composition composition() const { return team()->composition(); }
  // The members that are there, in their order. They live as long as the instance.
  std::vector<MemberVolume*> volumes() const { return team()->Members(); }
  // Null when there is none.
  MemberVolume* Find(std::string_view volume) const { return team()->Find(volume); }

  // The members in the order in which a content is placed; those that failed a moment ago last.
  std::vector<MemberVolume*> OrderFor(const Signature& signature) const {
    return team()->OrderFor(signature);
  }

  // Looks for the content where its home says, and makes a block at the home, or at the next in
  // order that takes it. Where a home does not answer, the next one stands in for it; a content
  // that lies where nobody answers is stored a second time.
  // Errors: kFull when no volume takes it; kNotFound for an unknown volume; the last error when all
  // volumes failed; kOutdated when a volume lags behind the instance; kBusy when others did not
  // finish storing it; those of `content`.
  Result<Stored> Store(std::string_view content, const StoreOptions& options);
  // A source with a file is read twice; others are kept in a temporary file when they are large.
  Result<Stored> Store(io::Source& content, const StoreOptions& options);

  // Straight to the key's volume, however many there are, or to where the content has moved.
  // Errors: as Volume; kNotFound for a volume that is not here.
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key);
  Result<std::unique_ptr<io::Source>> RetrieveRange(const ContentKey& key, std::uint64_t offset,
                                                    std::uint64_t length);
  Status Delete(const ContentKey& key, const Operation& operation);
  Result<BlockInfo> Stat(const ContentKey& key);

  // The key of the content as it is now: `key` itself unless it has moved. Errors: of members that
  // would have to know.
  Result<ContentKey> Resolve(const ContentKey& key) const;

  // From the first of several replicas that can be opened. Requires: one key at least.
  Result<std::unique_ptr<io::Source>> RetrieveAny(std::span<const ContentKey> replicas);

  // The members of the present epoch.
  std::shared_ptr<Team> team() const;

 private:
  class Content;

  Result<Stored> StoreContent(const Content& content, const StoreOptions& options);
  Status Renew(const Team& team, MemberVolume& outdated);
  void Take(Composed composed);
  static Result<std::optional<ContentKey>> AskForMove(const Team& team, const ContentKey& key);
  template <typename Value, typename Use>
  Result<Value> FollowKey(ContentKey key, const Use& use);

  const Options options_;
  std::atomic<std::uint64_t> temporary_number_ = 0;
  std::mutex renewing_;                                 // whoever changes the epoch
  mutable std::mutex mutex_;                            // of all below
  std::vector<std::unique_ptr<MemberVolume>> members_;  // of all epochs
  std::shared_ptr<Team> team_;
};

}  // namespace stele::store
