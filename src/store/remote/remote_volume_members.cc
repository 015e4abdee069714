// A volume's place in an instance, behind a server.
#include <algorithm>

#include <fmt/format.h>

#include "store/remote/connector.h"
#include "store/remote/remote_volume.h"
#include "store/remote/wire_members.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

// The connector, the lines before it, and some room.
constexpr std::size_t kMembershipSizeMax = kConnectorSizeMax + kConnectorVolumesMax * 80 + 1000;
constexpr std::size_t kFilterSizeMax = SignatureFilter::kBytesMax + 1000;

}  // namespace

void RemoteVolume::AddEpoch(net::ClientRequest& request, std::uint64_t epoch) {
  if (epoch > 0) request.fields.push_back({std::string(wire::kEpochHeader), std::to_string(epoch)});
}

Status RemoteVolume::Tell(net::ClientRequest request) const {
  const Result<std::string> answer = Ask(std::move(request));
  if (!answer) return answer.error();
  return {};
}

Result<Membership> RemoteVolume::GetMembership() {
  const Result<std::string> answer = Ask(NewRequest("GET", "/membership"), kMembershipSizeMax);
  if (!answer) return answer.error();
  if (answer->empty()) return Membership{};
  Result<Membership> membership = ParseMembership(*answer);
  if (!membership) return Named({ErrorCode::kCorrupt, "the server sent no membership"});
  return membership;
}

Status RemoteVolume::Join(const Composition& composition, const std::string& connector,
                          bool founding) {
  const Result<Connector> parsed = ParseConnector(connector);
  if (!parsed || parsed->composition() != composition) {
    return Named({ErrorCode::kInvalid, "the connector is not that of the composition"});
  }
  net::ClientRequest request =
      NewRequest("PUT", founding ? "/connector?founding=true" : "/connector");
  request.body = connector;
  return Tell(std::move(request));
}

Status RemoteVolume::Settle(std::uint64_t epoch, Membership::Settled settled) {
  const wire::Query query{{"epoch", std::to_string(epoch)},
                          {"settled", std::string(SettledName(settled))}};
  return Tell(NewRequest("PUT", "/settled?" + wire::FormatQuery(query)));
}

Status RemoteVolume::Publish(const Stubs& stubs) {
  std::span<const Signature> left = stubs.signatures;
  wire::Query query;
  if (stubs.claimed_by) query = wire::QueryOf(*stubs.claimed_by);
  query["volume"] = stubs.volume;
  do {
    const std::span<const Signature> page = left.first(std::min(left.size(), wire::kLinesMax));
    left = left.subspan(page.size());
    const std::string body = wire::FormatSignatures(page);
    net::ClientRequest request = NewRequest("POST", "/stubs?" + wire::FormatQuery(query));
    AddEpoch(request, stubs.epoch);
    request.body = body;
    const Status told = Tell(std::move(request));
    if (!told) return told;
  } while (!left.empty());
  return {};
}

Status RemoteVolume::GiveBack(const Signature& signature, const Operation& operation) {
  wire::Query query = wire::QueryOf(operation);
  query["signature"] = signature.Hex();
  return Tell(NewRequest("DELETE", "/claims?" + wire::FormatQuery(query)));
}

Result<SignatureFilter> RemoteVolume::Filter() {
  const Result<std::string> answer = Ask(NewRequest("GET", "/filter"), kFilterSizeMax);
  if (!answer) return answer.error();
  Result<SignatureFilter> filter = SignatureFilter::Parse(*answer);
  if (!filter) return Named(filter.error());
  return filter;
}

Result<std::vector<OwedStub>> RemoteVolume::Owed(const std::optional<Signature>& after,
                                                 std::size_t limit) {
  wire::Query query{{"limit", std::to_string(std::min(limit, wire::kLinesMax))}};
  if (after) query["after"] = after->Hex();
  const Result<std::string> answer =
      Ask(NewRequest("GET", "/owed?" + wire::FormatQuery(query)), wire::kLinesSizeMax);
  if (!answer) return answer.error();
  Result<std::vector<OwedStub>> owed = wire::ParseOwed(*answer);
  // What does not go on would never end.
  const bool goes_on = owed && (owed->empty() || !after || *after < owed->front().signature);
  if (!goes_on) return Named({ErrorCode::kCorrupt, "the server sent no list of what it owes"});
  return owed;
}

Status RemoteVolume::Forget(std::span<const Signature> owed) {
  while (!owed.empty()) {
    const std::span<const Signature> page = owed.first(std::min(owed.size(), wire::kLinesMax));
    owed = owed.subspan(page.size());
    const std::string body = wire::FormatSignatures(page);
    net::ClientRequest request = NewRequest("DELETE", "/owed");
    request.body = body;
    const Status told = Tell(std::move(request));
    if (!told) return told;
  }
  return {};
}

Status RemoteVolume::LogMove(const ContentKey& from, const ContentKey& to) {
  const wire::Query query{{"from", from.Text()}, {"to", to.Text()}};
  return Tell(NewRequest("PUT", "/moves?" + wire::FormatQuery(query)));
}

Status RemoteVolume::Depart(const ContentKey& from, const ContentKey& to,
                            std::uint64_t operations) {
  const wire::Query query{
      {"from", from.Text()}, {"to", to.Text()}, {"operations", fmt::to_string(operations)}};
  return Tell(NewRequest("PUT", "/moves?" + wire::FormatQuery(query)));
}

Result<std::optional<ContentKey>> RemoteVolume::MovedTo(const ContentKey& from) {
  const Result<std::string> answer =
      Ask(NewRequest("GET", "/moves?" + wire::FormatQuery({{"from", from.Text()}})));
  if (!answer) return answer.error();
  const Result<std::vector<Directory::Move>> moves = wire::ParseMoves(*answer);
  const bool good =
      moves && (moves->empty() || (moves->size() == 1 && moves->front().from == from &&
                                   moves->front().to.signature == from.signature));
  if (!good) return Named({ErrorCode::kCorrupt, "the server sent another move"});
  if (moves->empty()) return std::optional<ContentKey>();
  return std::optional(moves->front().to);
}

Result<std::vector<ContentKey>> RemoteVolume::FormerKeys(const ContentKey& key) {
  const Result<std::string> answer =
      Ask(NewRequest("GET", "/arrivals?" + wire::FormatQuery({{"of", key.Text()}})),
          wire::kLinesSizeMax);
  if (!answer) return answer.error();
  const Result<std::vector<Directory::Move>> moves = wire::ParseMoves(*answer);
  std::vector<ContentKey> keys;
  bool good = moves.ok();
  for (std::size_t i = 0; good && i < moves->size(); ++i) {
    good = (*moves)[i].to == key && (*moves)[i].from.signature == key.signature;
    keys.push_back((*moves)[i].from);
  }
  if (!good) return Named({ErrorCode::kCorrupt, "the server sent other moves"});
  return keys;
}

Result<std::vector<Directory::Move>> RemoteVolume::Arrivals(
    const std::optional<Directory::Move>& after, std::size_t limit) {
  wire::Query query{{"limit", std::to_string(std::min(limit, wire::kLinesMax))}};
  if (after) query.insert({{"from", after->from.Text()}, {"to", after->to.Text()}});
  const Result<std::string> answer =
      Ask(NewRequest("GET", "/arrivals?" + wire::FormatQuery(query)), wire::kLinesSizeMax);
  if (!answer) return answer.error();
  Result<std::vector<Directory::Move>> moves = wire::ParseMoves(*answer);
  const bool goes_on = moves && (moves->empty() || !after || !(moves->front().to < after->to));
  if (!goes_on) return Named({ErrorCode::kCorrupt, "the server sent no list of moves"});
  return moves;
}

}  // namespace stele::store
