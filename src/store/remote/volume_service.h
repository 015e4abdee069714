#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_handler.h"
#include "store/member_volume.h"
#include "store/owners_file.h"

namespace stele::store {

// Serves volumes over HTTP/1.1, so that any language can use them: docs/store-api.yaml says how,
// docs/store-network.md shows it with curl. Thread-safe.
//
// Contents pass as streams. The server's limit for bodies is that for contents.
class VolumeService final : public net::Handler {
 public:
  struct Options {
    // What the administrator sends as Bearer, who may do everything. Empty: nobody may when there
    // are owners, else anybody.
    std::string token = {};
    // Who else is let in, each to see what it holds itself: see OwnedVolume.
    std::vector<OwnerRule> owners = {};
    std::size_t lookup_keys_max = 10'000;
  };

  // Borrows the volumes for life. Requires: names all different.
  VolumeService(std::vector<MemberVolume*> volumes, Options options);

  void Handle(net::Request& request, net::ResponseWriter& response) override;

 private:
  struct Call;

  struct OwnerView {
    OwnerRule rule;
    std::vector<std::unique_ptr<OwnedVolume>> volumes;  // in the order of volumes_
  };

  // False when nobody knows the token. Sets the owner; none for the administrator.
  bool Identify(Call& call) const;
  bool Allowed(Call& call, std::string_view what) const;
  void Route(Call& call);
  void RouteContent(Call& call, std::string_view name, std::string_view rest);
  void Health(Call& call);
  void Stats(Call& call);
  void State(Call& call);
  void Reference(Call& call);
  void Store(Call& call);
  void Restore(Call& call, const ContentKey& key);
  void Retrieve(Call& call, const ContentKey& key);
  // False: all of it is meant.
  bool SendRange(Call& call, const ContentKey& key, std::string_view asked,
                 net::ResponseStart start);
  void Delete(Call& call, const ContentKey& key);
  void Stat(Call& call, const ContentKey& key);
  void LookUp(Call& call);
  void Refer(Call& call, const ContentKey& key);
  void Held(Call& call, const ContentKey& key);
  void Operations(Call& call, const ContentKey& key);
  void List(Call& call);
  void Owners(Call& call);

  // False: it is nothing of theirs.
  bool RouteMember(Call& call, std::string_view what, std::string_view rest);
  void GetMembership(Call& call);
  void GetConnector(Call& call);
  void PutConnector(Call& call);
  void Settle(Call& call);
  void Publish(Call& call);
  void GiveBack(Call& call);
  void Filter(Call& call);
  void Owed(Call& call);
  void Forget(Call& call);
  void MovedTo(Call& call);
  void LogMove(Call& call);
  void Arrivals(Call& call);
  void Compact(Call& call);

  const std::vector<MemberVolume*> volumes_;
  const Options options_;
  std::vector<OwnerView> owners_;
  std::mutex compacting_;  // clients that ask for it twice would keep the workers from the others
};

}  // namespace stele::store
