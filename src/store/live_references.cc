#include "store/live_references.h"

namespace stele::store {
namespace {

constexpr std::size_t kPage = 1000;

}  // namespace

Result<std::vector<Operation>> LiveReferences(Volume& volume, const ContentKey& key,
                                              std::string_view owner) {
  using Kind = BlockOperation::Kind;
  std::vector<Operation> live;
  const Result<std::uint64_t> held = volume.Held(key, std::string(owner));
  if (!held) return held.error();
  if (*held == 0) return live;
  for (const Kind kind : {Kind::kReference, Kind::kRelease}) {
    BlockOperation after{kind, {std::string(owner), "!"}};  // no id comes before it
    for (bool more = true; more;) {
      const auto page = volume.Operations(key, after, kPage);
      if (!page) return page.error();
      more = page->size() == kPage;
      for (const BlockOperation& done : *page) {
        more = more && done.kind == kind && done.operation.owner == owner;
        if (done.kind != kind || done.operation.owner != owner) break;
        after = done;
        if (kind == Kind::kReference) live.push_back(done.operation);
        if (kind == Kind::kRelease) std::erase(live, done.operation);
      }
    }
  }
  return live;
}

}  // namespace stele::store
