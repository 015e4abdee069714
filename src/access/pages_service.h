#pragma once

#include <string>
#include <string_view>

#include "access/call.h"
#include "access/job_watch.h"
#include "access/monitor.h"
#include "access/origin.h"
#include "access/overview.h"
#include "access/served_archive.h"
#include "access/static_files.h"
#include "io/clock.h"
#include "net/http_handler.h"

namespace stele::access {

// The server of the pages: API, CDX, Memento, Wayback routes, downloads, and files. Everything is
// read-only. docs/access.md has the routes. Thread-safe.
class PagesService final : public net::Handler {
 public:
  struct Options {
    std::string software;         // "stele 0.1.0"
    std::string spool_directory;  // for downloads that are made first
    std::string user_header;      // whose value a proxy vouches for; empty: all are the public
    bool has_worker = false;      // the replay server has the files for replay in the browser
  };

  // Borrows all for life.
  PagesService(ServedArchives& archives, const Overviews& overviews, JobWatch& jobs,
               const Addresses& addresses, const StaticFiles& files, const Monitor& monitor,
               const io::Clock& clock, Options options)
      : archives_(archives),
        overviews_(overviews),
        jobs_(jobs),
        addresses_(addresses),
        files_(files),
        monitor_(monitor),
        clock_(clock),
        options_(std::move(options)) {}

  void Handle(net::Request& request, net::ResponseWriter& response) override;

 private:
  void Route(Call& call);
  // False: it is none of theirs.
  bool RouteMachine(Call& call) const;
  bool RouteDownload(Call& call) const;
  void Wayback(Call& call) const;
  void Page(Call& call) const;
  std::string PagePolicy(const Call& call) const;

  ServedArchives& archives_;
  const Overviews& overviews_;
  JobWatch& jobs_;
  const Addresses& addresses_;
  const StaticFiles& files_;
  const Monitor& monitor_;
  const io::Clock& clock_;
  const Options options_;
};

// Takes "name/" off the front of call.path where an archive has that name, and gives it as prefix.
ServedArchive& TakeArchive(ServedArchives& archives, std::string_view& path, std::string& prefix);
// The path with its query, as the addresses of captures have them.
std::string TargetOf(std::string_view path, std::string_view query);

}  // namespace stele::access
