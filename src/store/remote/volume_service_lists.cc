// The calls about who refers to what.
#include "store/remote/volume_service_call.h"
#include "store/remote/wire.h"

namespace stele::store {

void VolumeService::Refer(Call& call, const ContentKey& key) {
  const Result<Operation> operation = wire::OperationFrom(call.query);
  if (!operation) return call.Fail(operation.error());
  const Status referred = call.volume->Refer(key, *operation);
  if (!referred) return call.Fail(referred.error());
  static_cast<void>(call.response.Reply(call.StartOf(204, ""), "").ok());
}

void VolumeService::Held(Call& call, const ContentKey& key) {
  const auto owner = call.query.find("owner");
  if (owner == call.query.end()) {
    return call.Fail({ErrorCode::kInvalid, "parameter 'owner' is missing"});
  }
  const Result<std::uint64_t> held = call.volume->Held(key, owner->second);
  if (!held) return call.Fail(held.error());
  call.Reply(200, wire::HeldJson(*held));
}

void VolumeService::Operations(Call& call, const ContentKey& key) {
  const Result<wire::OperationsRequest> wanted = wire::OperationsRequestFrom(call.query);
  if (!wanted) return call.Fail(wanted.error());
  const auto operations = call.volume->Operations(key, wanted->after, wanted->limit);
  if (!operations) return call.Fail(operations.error());
  call.Reply(200, wire::OperationsJson(*operations));
}

void VolumeService::List(Call& call) {
  const Result<ListRequest> wanted = wire::ListRequestFrom(call.query);
  if (!wanted) return call.Fail(wanted.error());
  const Result<std::vector<ListedBlock>> blocks = call.volume->List(*wanted);
  if (!blocks) return call.Fail(blocks.error());
  call.Reply(200, wire::ListJson(*blocks));
}

void VolumeService::Owners(Call& call) {
  const auto owner = call.query.find("owner");
  if (owner == call.query.end()) {
    const Result<std::vector<OwnerUsage>> owners = call.volume->Owners();
    if (!owners) return call.Fail(owners.error());
    return call.Reply(200, wire::OwnersJson(*owners));
  }
  const Result<OwnerUsage> usage = call.volume->UsageOf(owner->second);
  if (!usage) return call.Fail(usage.error());
  call.Reply(200, wire::OwnersJson({*usage}));
}

}  // namespace stele::store
