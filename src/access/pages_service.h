#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "access/call.h"
#include "access/gate.h"
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
    bool has_worker = false;      // the replay server has the files for replay in the browser
    bool leads_to_exact = true;   // as Call has it
  };

  // Borrows all for life.
  PagesService(Gate& gate, ServedArchives& archives, Overviews& overviews, JobWatch& jobs,
               const Addresses& addresses, const StaticFiles& files, const Monitor& monitor,
               const io::Clock& clock, Options options)
      : gate_(gate),
        archives_(archives),
        overviews_(overviews),
        jobs_(jobs),
        addresses_(addresses),
        files_(files),
        monitor_(monitor),
        clock_(clock),
        options_(std::move(options)) {}

  void Handle(net::Request& request, net::ResponseWriter& response) override;

  // The paths that it answers, those that end in '/' with all that is below; the rest are files.
  static std::vector<std::string_view> Routes();

 private:
  struct Served {
    std::string_view path;
    void (PagesService::*send)(Call& call);
  };
  // The first that fits answers.
  static const std::vector<Served>& Table();
  void Route(Call& call);
  void Api(Call& call);
  void ApiHome(Call& call);
  void Metrics(Call& call);
  void LogIn(Call& call);
  void Record(Call& call);
  void Warc(Call& call);
  void Wacz(Call& call);
  void PywbCdx(Call& call);
  void Cdx(Call& call);
  void TimeMap(Call& call);
  void TimeGate(Call& call);
  void Wayback(Call& call);
  void LeadInTime(Call& call, const std::string& url) const;
  void Find(Call& call);
  void Page(Call& call) const;
  std::string PagePolicy(const Call& call) const;

  Gate& gate_;
  ServedArchives& archives_;
  Overviews& overviews_;
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
