// Who refers to what in a volume behind a server. Lists longer than a page take several requests.
#include <algorithm>

#include "store/remote/remote_volume.h"

namespace stele::store {
namespace {

std::string PathOf(const ContentKey& key, std::string_view what) {
  std::string path = "/contents/" + BlockName(key.signature, key.overflow) + '/';
  return path.append(what);
}

// A list must go on behind what was asked for, or a lying server could make it endless.
bool GoesOn(const std::optional<BlockId>& after, const std::vector<ListedBlock>& page) {
  std::optional<BlockId> last = after;
  return std::all_of(page.begin(), page.end(), [&](const ListedBlock& listed) {
    const bool behind = !last || *last < listed.block;
    last = listed.block;
    return behind;
  });
}

}  // namespace

Status RemoteVolume::Refer(const ContentKey& key, const Operation& operation) {
  const Result<std::string> answer = Ask(
      NewRequest("POST", PathOf(key, "references?") + wire::FormatQuery(wire::QueryOf(operation))));
  if (!answer) return answer.error();
  return {};
}

Result<std::uint64_t> RemoteVolume::Held(const ContentKey& key, const std::string& owner) {
  const Result<std::string> answer =
      Ask(NewRequest("GET", PathOf(key, "held?") + wire::FormatQuery({{"owner", owner}})));
  if (!answer) return answer.error();
  const Result<std::uint64_t> held = wire::HeldFrom(*answer);
  if (!held) return Named(held.error());
  return held;
}

Result<std::vector<BlockOperation>> RemoteVolume::Operations(
    const ContentKey& key, const std::optional<BlockOperation>& after, std::size_t limit) {
  std::vector<BlockOperation> operations;
  wire::OperationsRequest request{after, 0};
  while (operations.size() < limit) {
    request.limit = std::min(limit - operations.size(), wire::kListEntriesMax);
    const Result<std::string> answer = Ask(
        NewRequest("GET", PathOf(key, "operations?") + wire::FormatQuery(wire::QueryOf(request))),
        wire::kListSizeMax);
    if (!answer) return answer.error();
    const Result<std::vector<BlockOperation>> page = wire::OperationsFrom(*answer);
    if (!page) return Named(page.error());
    const bool too_long = page->size() > request.limit;
    if (too_long || (request.after && !page->empty() && page->back() == *request.after)) {
      return Named({ErrorCode::kCorrupt, "the server sent another list of operations"});
    }
    operations.insert(operations.end(), page->begin(), page->end());
    if (page->size() < request.limit) break;
    request.after = page->back();
  }
  return operations;
}

Result<std::vector<ListedBlock>> RemoteVolume::List(const ListRequest& request) {
  std::vector<ListedBlock> blocks;
  ListRequest page_request = request;
  while (blocks.size() < request.limit) {
    page_request.limit = std::min(request.limit - blocks.size(), wire::kListEntriesMax);
    const Result<std::string> answer =
        Ask(NewRequest("GET", "/contents?" + wire::FormatQuery(wire::QueryOf(page_request))),
            wire::kListSizeMax);
    if (!answer) return answer.error();
    const Result<std::vector<ListedBlock>> page = wire::ListFrom(*answer);
    if (!page) return Named(page.error());
    if (page->size() > page_request.limit || !GoesOn(page_request.after, *page)) {
      return Named({ErrorCode::kCorrupt, "the server sent another list of contents"});
    }
    blocks.insert(blocks.end(), page->begin(), page->end());
    if (page->size() < page_request.limit) break;
    page_request.after = page->back().block;
  }
  return blocks;
}

Result<std::vector<OwnerUsage>> RemoteVolume::Owners() {
  const Result<std::string> answer = Ask(NewRequest("GET", "/owners"), wire::kListSizeMax);
  if (!answer) return answer.error();
  Result<std::vector<OwnerUsage>> owners = wire::OwnersFrom(*answer);
  if (!owners) return Named(owners.error());
  return owners;
}

Result<OwnerUsage> RemoteVolume::UsageOf(const std::string& owner) {
  const Result<std::string> answer =
      Ask(NewRequest("GET", "/owners?" + wire::FormatQuery({{"owner", owner}})));
  if (!answer) return answer.error();
  const Result<std::vector<OwnerUsage>> owners = wire::OwnersFrom(*answer);
  if (!owners) return Named(owners.error());
  if (owners->size() != 1 || owners->front().owner != owner) {
    return Named({ErrorCode::kCorrupt, "the server answered for another owner"});
  }
  return owners->front();
}

}  // namespace stele::store
