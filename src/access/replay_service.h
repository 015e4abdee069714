#pragma once

#include "access/gate.h"
#include "access/origin.h"
#include "access/served_archive.h"
#include "access/static_files.h"
#include "io/clock.h"
#include "net/http_handler.h"

namespace stele::access {

// The server of replayed pages: what their service worker needs, and nothing else, because a page
// that is replayed can reach whatever is here. docs/access.md, "Two origins". Thread-safe.
class ReplayService final : public net::Handler {
 public:
  // Borrows all for life.
  ReplayService(Gate& gate, ServedArchives& archives, const Addresses& addresses,
                const StaticFiles& files, const io::Clock& clock)
      : gate_(gate), archives_(archives), addresses_(addresses), files_(files), clock_(clock) {}

  void Handle(net::Request& request, net::ResponseWriter& response) override;

 private:
  void Route(Call& call) const;
  // What a worker would have answered, had it been there: back to our pages.
  void WithoutWorker(Call& call) const;
  void Shell(Call& call) const;
  void File(Call& call, std::string_view path, std::vector<net::HeaderField> fields = {}) const;

  Gate& gate_;
  ServedArchives& archives_;
  const Addresses& addresses_;
  const StaticFiles& files_;
  const io::Clock& clock_;
};

}  // namespace stele::access
