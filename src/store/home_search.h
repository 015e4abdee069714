#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "io/stream.h"
#include "store/team.h"

namespace stele::store {

// Stores one content in an instance: asks its home where it is, refers to it there, or makes a
// block and lets the home know where. One thread, one content. Borrows the team.
class HomeSearch {
 public:
  // The content from its begin, as often as it is asked for.
  using Read = std::function<std::unique_ptr<io::Source>()>;

  // Borrows `made`, the block that the operation has made so far, also in an earlier search.
  // What others are storing or moving is waited for `busy_time`.
  HomeSearch(Team& team, StoreRequest request, Read read, std::optional<ContentKey>& made,
             std::chrono::milliseconds busy_time);

  // Errors: kOutdated, and outdated() is the member that knows another epoch; kFull when no member
  // takes it; kBusy when others have been storing it for too long; kInvalid; the last one when no
  // member answered; those of the content.
  Result<Stored> Store();
  // Looks for it and stores it in this member only.
  Result<Stored> StoreAt(MemberVolume& member);

  MemberVolume* outdated() const { return outdated_; }

 private:
  using Found = Result<std::optional<Stored>>;

  Found Attempt();
  Result<Lookup> AskHome();
  Found CompareAt(MemberVolume& member);
  Found AskHolders(const Lookup& found);
  Found AskOnce(std::vector<std::string>& names);
  Found AskHolder(MemberVolume& holder, std::vector<std::string>& more);
  Found MakeBlock();
  Found MakeBlockElsewhere();
  Status Publish(const MemberVolume& member);
  Result<Stored> ReferOrSend(MemberVolume& member);
  Result<Stored> Send(MemberVolume& member, const StoreRequest& request);
  Error Noted(const Error& error, MemberVolume& member);

  Team& team_;
  const StoreRequest request_;
  const Read read_;
  std::optional<ContentKey>& made_;
  const std::chrono::milliseconds busy_time_;
  std::vector<MemberVolume*> failed_;     // not asked again for this content
  std::vector<MemberVolume*> full_;       // did not take it
  std::optional<Error> content_failure_;  // no member's fault
  Error failure_{ErrorCode::kIo, "no volume of the instance is there"};
  MemberVolume* outdated_ = nullptr;

  // Of one attempt.
  std::vector<MemberVolume*> order_;
  MemberVolume* home_ = nullptr;  // the home, or the one that stands in for it
  bool claim_ = false;            // it does not take the content
  bool passed_over_ = false;      // somebody who may hold the content does not answer
  std::vector<std::string> asked_;
};

}  // namespace stele::store
