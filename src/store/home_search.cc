// The home is asked first, and for a duplicate that lies there this is all. Otherwise it names the
// volumes that may hold the content, which are asked one after another; members that have not told
// the homes yet what they hold are among them when their filters say so. What is found nowhere is
// stored at the home, or elsewhere when the home does not take it: then the home learns where
// before anybody is told that the content is stored.
#include "store/home_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace stele::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPauseMax{50};

// Errors after which another member may do.
bool IsFailure(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kCorrupt;
}

bool Has(const std::vector<MemberVolume*>& members, const MemberVolume* member) {
  return std::find(members.begin(), members.end(), member) != members.end();
}

// Tells errors of the content, which are the caller's, from those of a member.
class WatchedContent final : public io::Source {
 public:
  WatchedContent(io::Source& content, std::optional<Error>& failure)
      : content_(content), failure_(failure) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = content_.Read(out);
    if (!read) failure_ = read.error();
    return read;
  }

 private:
  io::Source& content_;
  std::optional<Error>& failure_;
};

}  // namespace

HomeSearch::HomeSearch(Team& team, StoreRequest request, Read read, std::optional<ContentKey>& made,
                       milliseconds busy_time)
    : team_(team),
      request_(std::move(request)),
      read_(std::move(read)),
      made_(made),
      busy_time_(busy_time) {}

Error HomeSearch::Noted(const Error& error, MemberVolume& member) {
  if (error.code == ErrorCode::kOutdated) outdated_ = &member;
  if (!IsFailure(error) || content_failure_) return error;
  team_.NoteFailure(member);
  if (!Has(failed_, &member)) failed_.push_back(&member);
  return error;
}

Result<Stored> HomeSearch::Send(MemberVolume& member, const StoreRequest& request) {
  const std::unique_ptr<io::Source> content = read_();
  WatchedContent watched(*content, content_failure_);
  Result<Stored> stored = member.Store(request, watched);
  if (!stored) return Noted(stored.error(), member);
  if (stored->is_new) made_ = stored->key;
  return stored;
}

Result<Stored> HomeSearch::Store() {
  const auto begin = steady_clock::now();
  milliseconds pause{1};
  for (;;) {
    Found found = Attempt();
    if (found && *found) {
      Stored stored = **std::move(found);
      stored.is_new = made_ == stored.key;
      return stored;
    }
    if (content_failure_) return *content_failure_;
    if (found) continue;  // a member failed or was full: the next attempt takes another way
    if (found.error().code != ErrorCode::kBusy) return found.error();
    if (steady_clock::now() - begin > busy_time_) return found.error();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

// Nothing: begin again. A claim ends with the attempt, unless publishing has ended it.
HomeSearch::Found HomeSearch::Attempt() {
  asked_.clear();
  passed_over_ = false;
  order_ = team_.OrderFor(request_.signature);
  std::erase_if(order_, [&](const MemberVolume* member) { return Has(failed_, member); });
  const Result<Lookup> found = AskHome();
  if (!found) return found.error();
  if (found->outcome == Lookup::Outcome::kReferenced) return std::optional(Stored{*found->key});
  Found stored = found->outcome == Lookup::Outcome::kCandidate ? CompareAt(*home_)
                                                               : Found(std::optional<Stored>());
  if (stored && !*stored) stored = AskHolders(*found);
  if (stored && !*stored) stored = claim_ ? MakeBlockElsewhere() : MakeBlock();
  if (claim_) static_cast<void>(home_->GiveBack(request_.signature, request_.operation).ok());
  return stored;
}

// Sends the content to where it may be.
HomeSearch::Found HomeSearch::CompareAt(MemberVolume& member) {
  StoreRequest request = request_;
  request.only_if_here = true;
  const Result<Stored> stored = Send(member, request);
  if (stored) return std::optional(*stored);
  if (stored.error().code == ErrorCode::kNotFound) return std::optional<Stored>();
  return stored.error();
}

// The first member in order that answers is the home for this attempt.
Result<Lookup> HomeSearch::AskHome() {
  Error failure = failure_;
  for (MemberVolume* member : order_) {
    home_ = member;
    StoreRequest request = request_;
    request.home.as_home = true;
    claim_ = Has(full_, member) || member->state() != VolumeState::kWritable;
    request.home.claim = claim_;
    Result<Lookup> found = member->Reference(request);
    if (found) return found;
    failure = Noted(found.error(), *member);
    if (!IsFailure(failure) && failure.code != ErrorCode::kFull) return failure;
  }
  return failure;
}

HomeSearch::Found HomeSearch::AskHolders(const Lookup& found) {
  std::vector<std::string> names = found.elsewhere;
  if (found.unsettled) {
    const Result<std::vector<MemberVolume*>> holders = team_.Holders(request_.signature, outdated_);
    if (!holders) return holders.error();
    for (const MemberVolume* holder : *holders) names.push_back(holder->name());
  }
  Found stored = AskOnce(names);
  // A content that moved from one to the other between two questions was at neither.
  if (stored && !*stored && asked_.size() > 1) {
    names = std::exchange(asked_, {});
    stored = AskOnce(names);
  }
  return stored;
}

// Holders add to the names when they are handing the content on.
HomeSearch::Found HomeSearch::AskOnce(std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i];
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    asked_.push_back(name);
    MemberVolume* holder = team_.Find(name);
    if (holder == home_) continue;
    if (holder == nullptr || Has(failed_, holder)) {
      passed_over_ = true;
      continue;
    }
    Found stored = AskHolder(*holder, names);
    if (!stored || *stored) return stored;
  }
  return std::optional<Stored>();
}

// A holder that does not answer, or takes no references, is passed over: the content is stored a
// second time. Where it did not answer, both become one block later.
HomeSearch::Found HomeSearch::AskHolder(MemberVolume& holder, std::vector<std::string>& more) {
  const auto passed_over = [&](const Error& error) -> Found {
    if (content_failure_) return *content_failure_;
    passed_over_ |= IsFailure(error);
    if (IsFailure(error) || error.code == ErrorCode::kFull) return std::optional<Stored>();
    return error;
  };
  const Result<Lookup> found = holder.Reference(request_);
  if (!found) return passed_over(Noted(found.error(), holder));
  if (found->outcome == Lookup::Outcome::kReferenced) return std::optional(Stored{*found->key});
  more.insert(more.end(), found->elsewhere.begin(), found->elsewhere.end());
  if (found->outcome == Lookup::Outcome::kUnknown) return std::optional<Stored>();
  Found stored = CompareAt(holder);
  return stored ? stored : passed_over(stored.error());
}

// Where a home is full or dies meanwhile, the next attempt takes another way.
HomeSearch::Found HomeSearch::MakeBlock() {
  StoreRequest request = request_;
  request.home.as_home = true;
  request.home.asked = asked_;
  request.home.claim = passed_over_;
  const Result<Stored> stored = Send(*home_, request);
  if (stored) return std::optional(*stored);
  failure_ = stored.error();
  if (IsFailure(failure_)) return std::optional<Stored>();
  if (failure_.code != ErrorCode::kFull) return failure_;
  full_.push_back(home_);
  return std::optional<Stored>();
}

HomeSearch::Found HomeSearch::MakeBlockElsewhere() {
  StoreRequest request = request_;
  request.home.claim = passed_over_;
  Error failure{
      ErrorCode::kFull,
      "no volume takes new blocks: they are full, read-only or frozen; stele store stats shows "
      "which, and stele store add-volume adds one"};
  for (MemberVolume* member : order_) {
    if (member == home_ || member->state() != VolumeState::kWritable) continue;
    const Result<Stored> stored = Send(*member, request);
    if (stored) {
      const Status published = Publish(*member);
      claim_ = !published.ok();
      if (published) return std::optional(*stored);
      failure_ = published.error();
      if (IsFailure(failure_)) return std::optional<Stored>();
      return failure_;
    }
    failure = stored.error();
    if (failure.code != ErrorCode::kFull && !IsFailure(failure)) break;
  }
  return failure;
}

Status HomeSearch::Publish(const MemberVolume& member) {
  const Status published = home_->Publish(
      {request_.home.epoch, member.name(), {request_.signature}, request_.operation});
  if (!published) return Noted(published.error(), *home_);
  return {};
}

// Where a block of the content is leaving right now, it is waited for.
Result<Stored> HomeSearch::ReferOrSend(MemberVolume& member) {
  const auto begin = steady_clock::now();
  for (;;) {
    const Result<Lookup> found = member.Reference(request_);
    if (!found) return Noted(found.error(), member);
    if (found->outcome == Lookup::Outcome::kReferenced) return Stored{*found->key};
    Result<Stored> stored = Send(member, request_);
    const bool is_busy = !stored && stored.error().code == ErrorCode::kBusy && !content_failure_;
    if (!is_busy || steady_clock::now() - begin > busy_time_) return stored;
    std::this_thread::sleep_for(kPauseMax);
  }
}

Result<Stored> HomeSearch::StoreAt(MemberVolume& member) {
  Result<Stored> stored = ReferOrSend(member);
  if (!stored) return stored;
  stored->is_new = made_ == stored->key;
  if (team_.composition().IsHome(member.name(), request_.signature)) return stored;
  for (MemberVolume* home : team_.OrderFor(request_.signature)) {
    home_ = home;
    const Status published = Publish(member);
    if (published) return stored;
    failure_ = published.error();
    if (!IsFailure(failure_)) break;
  }
  return failure_;
}

}  // namespace stele::store
