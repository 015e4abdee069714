// The calls about a volume's place in an instance, and what a home is told.
#include "store/remote/connector.h"
#include "store/remote/volume_service_call.h"
#include "store/remote/wire_members.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

std::string_view Value(const wire::Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string_view() : std::string_view(found->second);
}

// By the parameter `limit`; nothing for one that is no number from 1 on.
std::optional<std::size_t> LimitFrom(const wire::Query& query) {
  if (!query.contains("limit")) return wire::kLinesMax;
  const auto limit = ParseDecimal(Value(query, "limit"));
  if (!limit || *limit == 0) return std::nullopt;
  return static_cast<std::size_t>(std::min<std::uint64_t>(*limit, wire::kLinesMax));
}

Error Wrong(std::string_view parameter, std::string_view wanted) {
  return {ErrorCode::kInvalid, fmt::format("parameter '{}' must be {}", parameter, wanted)};
}

}  // namespace

bool VolumeService::RouteMember(Call& call, std::string_view what, std::string_view rest) {
  using Answer = void (VolumeService::*)(Call&);
  struct Row {
    std::string_view what;
    std::string_view method;
    Answer answer;
    bool for_owners;  // not for the administrator alone
  };
  static constexpr Row kRows[] = {
      {"membership", "GET", &VolumeService::GetMembership, true},
      {"connector", "GET", &VolumeService::GetConnector, true},
      {"connector", "PUT", &VolumeService::PutConnector, true},
      {"settled", "PUT", &VolumeService::Settle, false},
      {"stubs", "POST", &VolumeService::Publish, true},
      {"claims", "DELETE", &VolumeService::GiveBack, true},
      {"filter", "GET", &VolumeService::Filter, false},
      {"owed", "GET", &VolumeService::Owed, false},
      {"owed", "DELETE", &VolumeService::Forget, false},
      {"moves", "GET", &VolumeService::MovedTo, true},
      {"moves", "PUT", &VolumeService::LogMove, false},
      {"arrivals", "GET", &VolumeService::Arrivals, false},
      {"compact", "POST", &VolumeService::Compact, false},
  };
  std::string allowed;
  for (const Row& row : kRows) {
    if (row.what != what || !rest.empty()) continue;
    if (row.method == call.method() && call.owner != nullptr && !row.for_owners) {
      call.Reply(403, wire::ErrorJson("invalid", "this is for the administrator alone"));
      return true;
    }
    if (row.method == call.method()) {
      (this->*row.answer)(call);
      return true;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(row.method);
  }
  if (!allowed.empty()) call.RefuseMethod(allowed);
  return !allowed.empty();
}

void VolumeService::GetMembership(Call& call) {
  const Result<Membership> membership = call.member->GetMembership();
  if (!membership) return call.Fail(membership.error());
  if (membership->composition.epoch == 0) return call.ReplyText("text/plain", "");
  call.ReplyText("text/plain", FormatMembership(*membership));
}

void VolumeService::GetConnector(Call& call) {
  const Result<Membership> membership = call.member->GetMembership();
  if (!membership) return call.Fail(membership.error());
  if (membership->connector.empty()) {
    return call.Fail({ErrorCode::kNotFound, "the volume knows no connector"});
  }
  call.ReplyText("application/xml", membership->connector);
}

void VolumeService::PutConnector(Call& call) {
  // Whoever may store may let a new volume join; what is in use is the administrator's.
  const bool founding = Value(call.query, "founding") == "true";
  if (call.owner != nullptr && !founding) {
    return call.Reply(403, wire::ErrorJson("invalid", "this is for the administrator alone"));
  }
  const Result<std::string> xml = call.ReadBody(kConnectorSizeMax);
  if (!xml) return call.FailBody(xml.error());
  const Result<Connector> connector = ParseConnector(*xml);
  if (!connector) return call.Fail(connector.error());
  call.Done(call.member->Join(connector->composition(), *xml, founding));
}

void VolumeService::Settle(Call& call) {
  const auto settled = SettledByName(Value(call.query, "settled"));
  const auto epoch = ParseDecimal(Value(call.query, "epoch"));
  if (!settled) return call.Fail(Wrong("settled", "self or all"));
  if (!epoch) return call.Fail(Wrong("epoch", "a number"));
  call.Done(call.member->Settle(*epoch, *settled));
}

void VolumeService::Publish(Call& call) {
  Stubs stubs{call.epoch, std::string(Value(call.query, "volume")), {}, {}};
  if (call.query.contains("operation")) {
    Result<Operation> operation = wire::OperationFrom(call.query);
    if (!operation) return call.Fail(operation.error());
    stubs.claimed_by = *std::move(operation);
  }
  const Result<std::string> body = call.ReadBody(wire::kLinesSizeMax);
  if (!body) return call.FailBody(body.error());
  Result<std::vector<Signature>> signatures = wire::ParseSignatures(*body);
  if (!signatures) return call.Fail(signatures.error());
  stubs.signatures = *std::move(signatures);
  call.Done(call.member->Publish(stubs));
}

void VolumeService::GiveBack(Call& call) {
  const Result<Operation> operation = wire::OperationFrom(call.query);
  if (!operation) return call.Fail(operation.error());
  const auto signature = Signature::Parse(Value(call.query, "signature"));
  if (!signature) return call.Fail(Wrong("signature", "hexadecimal digits in upper case"));
  call.Done(call.member->GiveBack(*signature, *operation));
}

void VolumeService::Filter(Call& call) {
  const Result<SignatureFilter> filter = call.member->Filter();
  if (!filter) return call.Fail(filter.error());
  call.ReplyText("application/octet-stream", filter->Bytes());
}

void VolumeService::Owed(Call& call) {
  const auto limit = LimitFrom(call.query);
  if (!limit) return call.Fail(Wrong("limit", "a number from 1"));
  std::optional<Signature> after;
  if (call.query.contains("after")) {
    after = Signature::Parse(Value(call.query, "after"));
    if (!after) return call.Fail(Wrong("after", "a signature"));
  }
  const Result<std::vector<OwedStub>> owed = call.member->Owed(after, *limit);
  if (!owed) return call.Fail(owed.error());
  call.ReplyText("text/plain", wire::FormatOwed(*owed));
}

void VolumeService::Forget(Call& call) {
  const Result<std::string> body = call.ReadBody(wire::kLinesSizeMax);
  if (!body) return call.FailBody(body.error());
  const Result<std::vector<Signature>> signatures = wire::ParseSignatures(*body);
  if (!signatures) return call.Fail(signatures.error());
  call.Done(call.member->Forget(*signatures));
}

void VolumeService::MovedTo(Call& call) {
  const auto from = ContentKey::Parse(Value(call.query, "from"));
  if (!from) return call.Fail(Wrong("from", "a content key"));
  const Result<std::optional<ContentKey>> moved = call.member->MovedTo(*from);
  if (!moved) return call.Fail(moved.error());
  std::vector<Directory::Move> moves;
  if (*moved) moves.push_back({*from, **moved});
  call.ReplyText("text/plain", wire::FormatMoves(moves));
}

void VolumeService::LogMove(Call& call) {
  const auto from = ContentKey::Parse(Value(call.query, "from"));
  const auto to = ContentKey::Parse(Value(call.query, "to"));
  if (!from || !to) return call.Fail(Wrong(from ? "to" : "from", "a content key"));
  if (!call.query.contains("operations")) return call.Done(call.member->LogMove(*from, *to));
  const auto operations = ParseDecimal(Value(call.query, "operations"));
  if (!operations) return call.Fail(Wrong("operations", "a number"));
  call.Done(call.member->Depart(*from, *to, *operations));
}

void VolumeService::Arrivals(Call& call) {
  if (call.query.contains("of")) {
    const auto key = ContentKey::Parse(Value(call.query, "of"));
    if (!key) return call.Fail(Wrong("of", "a content key"));
    const Result<std::vector<ContentKey>> former = call.member->FormerKeys(*key);
    if (!former) return call.Fail(former.error());
    std::vector<Directory::Move> arrivals;
    for (const ContentKey& from : *former) arrivals.push_back({from, *key});
    return call.ReplyText("text/plain", wire::FormatMoves(arrivals));
  }
  const auto limit = LimitFrom(call.query);
  if (!limit) return call.Fail(Wrong("limit", "a number from 1"));
  std::optional<Directory::Move> after;
  if (call.query.contains("from") || call.query.contains("to")) {
    const auto from = ContentKey::Parse(Value(call.query, "from"));
    const auto to = ContentKey::Parse(Value(call.query, "to"));
    if (!from || !to) return call.Fail(Wrong(from ? "to" : "from", "a content key"));
    after = Directory::Move{*from, *to};
  }
  const auto moves = call.member->Arrivals(after, *limit);
  if (!moves) return call.Fail(moves.error());
  call.ReplyText("text/plain", wire::FormatMoves(*moves));
}

}  // namespace stele::store
