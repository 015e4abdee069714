#include <fmt/format.h>
#include <malloc.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "access/access_server.h"
#include "access/requested_url.h"
#include "cli/archive_commands.h"
#include "cli/listen_address.h"
#include "cli/stop_signals.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kGrace = 10s;
constexpr std::chrono::milliseconds kRefreshInterval = 2s;
static_assert(kRefreshInterval < 5s, "new captures show within five seconds");
// Enough for those that wait for a disk, another machine or a crawl.
constexpr std::size_t kWorkers = 32;
// Of requests whose archived answers are looked for.
constexpr std::uint64_t kBodyMax = access::kRequestBodyMax;

// The memory of a request serves the next: to give it back to the system and to fetch it again page
// by page takes longer than most requests do. Each thread keeps at most so much.
constexpr int kKeptBytes = 4 << 20;
constexpr int kMappedBytes = 1 << 20;  // what is larger is given back at once

void KeepMemory() {
  ::mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

// Where our program is, without its name.
std::string ProgramDirectory() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0) return ".";
  return io::ParentDirectory(std::string(path.data(), static_cast<std::size_t>(size)));
}

// The files of the pages; empty where there are none. Errors: kNotFound when those that were named
// are not there.
Result<std::string> WebDirectory(const Arguments& arguments, Context& context) {
  const auto has_pages = [&](const std::string& directory) {
    const Result<bool> exists = context.fs.Exists(directory + "/index.html");
    return exists && *exists;
  };
  if (const std::optional<std::string> named = arguments.Get("--web")) {
    if (has_pages(*named)) return *named;
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} has no index.html: these are not the pages of Stele, which make "
                             "web builds into build/web",
                             *named)};
  }
  const std::string beside = ProgramDirectory();
  for (const std::string_view below : {"/web", "/../share/stele/web"}) {
    std::string directory = beside + std::string(below);
    if (has_pages(directory)) return directory;
  }
  return std::string();
}

// The last part of a path, for an address: letters that need no encoding.
std::string NameOf(const std::string& directory) {
  std::string path = directory;
  std::array<char, 4096> here{};
  if ((path == "." || path == "./") && ::getcwd(here.data(), here.size()) != nullptr) {
    path = here.data();
  }
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::string name = path.substr(path.rfind('/') + 1);
  for (char& c : name) {
    if (!IsAsciiAlnum(c) && c != '-' && c != '.' && c != '_') c = '-';
  }
  // These are routes, or what the replay calls the first archive.
  for (const std::string_view taken :
       {"api", "web", "cdx", "timemap", "timegate", "record", "assets", "replay", "view",
        "calendar", "browse", "search", "compare", "runs", "jobs", "statistics", "r", "main"}) {
    if (name == taken) name += "-archive";
  }
  return name.empty() || name == ".." ? "archive" : name;
}

// For whoever stands one folder too high: the archives below.
std::string ArchivesBelow(io::FileSystem& fs, const std::string& directory) {
  std::string hint;
  const Result<std::vector<std::string>> names = fs.List(directory);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const std::string path = directory == "." ? name : directory + "/" + name;
    const Result<bool> is_one = archive::IsArchive(fs, path);
    if (is_one && *is_one) hint += fmt::format("\n  stele serve --archive {}", path);
  }
  return hint.empty() ? "" : ". There are archives in it:" + hint;
}

Result<std::vector<std::unique_ptr<access::ServedArchive>>> OpenArchives(const Arguments& arguments,
                                                                         Context& context) {
  std::vector<std::string> directories = arguments.GetAll("--archive");
  if (directories.empty()) directories.push_back(ArchiveDirectory(arguments));
  std::vector<std::unique_ptr<access::ServedArchive>> archives;
  for (const std::string& directory : directories) {
    std::string name = NameOf(directory);
    for (int n = 2; std::any_of(archives.begin(), archives.end(),
                                [&](const auto& one) { return one->name() == name; });
         ++n) {
      name = fmt::format("{}-{}", NameOf(directory), n);
    }
    auto served = access::ServedArchive::Open(context.fs, directory, name,
                                              arguments.Get("--rules").value_or(""));
    if (!served && served.error().code == ErrorCode::kNotFound) {
      return Error{ErrorCode::kNotFound,
                   served.error().text + ArchivesBelow(context.fs, directory)};
    }
    if (!served) return served.error();
    archives.push_back(std::move(*served));
  }
  return archives;
}

// Fills both addresses. False after a complaint.
bool SetAddresses(const Arguments& arguments, Context& context,
                  access::AccessServerOptions& options) {
  for (net::HttpServerOptions* server : {&options.pages, &options.replay}) {
    server->workers = kWorkers;
    server->workers_at_once = std::max(2U, std::thread::hardware_concurrency());
    server->limits.body_size_max = kBodyMax;
    server->certificate_file = arguments.Get("--certificate").value_or("");
    server->key_file = arguments.Get("--key").value_or("");
  }
  const std::string listen = arguments.Get("--listen").value_or("127.0.0.1:8080");
  const std::optional<std::string> replay = arguments.Get("--replay-listen");
  if (!SetListenAddress(listen, options.pages) ||
      (replay && !SetListenAddress(*replay, options.replay))) {
    Complain(context, "--listen takes ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080");
    return false;
  }
  if (!replay) {
    options.replay.address = options.pages.address;
    const bool free = options.pages.port == 0 || options.pages.port == 65535;
    options.replay.port = static_cast<std::uint16_t>(free ? 0 : options.pages.port + 1);
  }
  options.addresses.pages_origin = arguments.Get("--origin").value_or("");
  options.addresses.replay_origin = arguments.Get("--replay-origin").value_or("");
  options.addresses.local_only =
      IsLoopback(options.pages.address) && IsLoopback(options.replay.address);
  return true;
}

// Fills who may look. False after a complaint.
bool SetGate(const Arguments& arguments, Context& context, access::AccessServerOptions& options) {
  access::GateOptions& gate = options.gate;
  gate.users_path = arguments.Get("--users").value_or("");
  gate.user_header = arguments.Get("--user-header").value_or("");
  // A proxy on this machine has let in whom it liked, whether it names them or not.
  const bool asks_for_names = !gate.user_header.empty() && !options.addresses.local_only;
  const bool is_closed = !gate.users_path.empty() || asks_for_names;
  gate.is_open = !is_closed || arguments.Has("--public");
  for (const auto& [option, ranges] :
       {std::pair("--trusted-proxy", &gate.proxies), std::pair("--metrics-from", &gate.monitors)}) {
    for (const std::string& text : arguments.GetAll(option)) {
      const std::optional<net::IpRange> range = net::IpRange::FromText(text);
      if (!range) {
        Complain(context,
                 fmt::format("{} takes an address or a range such as 192.0.2.0/24", option));
        return false;
      }
      ranges->push_back(*range);
    }
  }
  const bool has_users = !gate.users_path.empty();
  gate.metrics_for_all = options.addresses.local_only && !has_users && gate.user_header.empty();
  if (options.addresses.local_only) return true;
  if (!has_users && gate.user_header.empty() && !arguments.Has("--public")) {
    Complain(context,
             "whoever reaches this address could look at the archive: give --users, listen on "
             "127.0.0.1, or say --public");
    return false;
  }
  const bool encrypted = !options.pages.certificate_file.empty() ||
                         options.addresses.pages_origin.starts_with("https://");
  if (has_users && !encrypted) {
    Complain(context,
             "passwords would cross the network for all to read: give --certificate and --key, or "
             "say with --origin https://... that a proxy encrypts");
    return false;
  }
  return true;
}

void OpenBrowser(std::string address, Context& context) {
  std::string program = "xdg-open";
  char* const words[] = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, ::environ) == 0) return;
  Complain(context, fmt::format("--open finds no browser, as xdg-open is not installed here; open "
                                "{} yourself",
                                address));
}

ExitCode FailToServe(Context& context, const Error& error) {
  if (error.code != ErrorCode::kBusy) return Fail(context, error);
  return Fail(context,
              {error.code, error.text +
                               ". Another program has this port, perhaps another stele serve. Give "
                               "--listen 127.0.0.1:0 for any free one; replayed pages take the one "
                               "behind it, or that of --replay-listen"});
}

ExitCode Run(const Arguments& arguments, Context& context) {
  access::AccessServerOptions options;
  if (!SetAddresses(arguments, context, options) || !SetGate(arguments, context, options)) {
    return ExitCode::kUsage;
  }
  Result<std::string> web = WebDirectory(arguments, context);
  if (!web) return Fail(context, web.error());
  options.web_directory = *std::move(web);
  if (options.web_directory.empty()) {
    Complain(context,
             "the pages for browsers are not beside this program: make web builds them into "
             "build/web, and --web says where they are; captures are served without them");
  }
  const char* temporary = std::getenv("TMPDIR");
  options.spool_directory = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
  options.software = "Stele " STELE_VERSION;
  options.leads_to_exact = !arguments.Has("--no-redirect");
  options.gate.complain = [&](const Error& error) { Complain(context, error.text); };
  KeepMemory();
  // Before anything has threads of its own.
  StopSignals signals;
  auto opened = OpenArchives(arguments, context);
  if (!opened) return Fail(context, opened.error());
  access::ServedArchives archives(std::move(*opened), kRefreshInterval, [&](const Error& error) {
    Complain(context, fmt::format("new captures cannot be shown: {}", error.text));
  });
  auto server = access::AccessServer::Open(options, archives, context.fs, context.clock,
                                           arguments.Has("--log") ? &context.err : nullptr);
  if (!server) return FailToServe(context, server.error());
  const std::string address = OriginOf(options.pages, (*server)->pages_port()) + "/";
  const Status told = context.out.Write(address + "\n");
  if (told && arguments.Has("--open")) OpenBrowser(address, context);
  if (told) signals.Wait();
  (*server)->Stop(kGrace);
  return told ? ExitCode::kDone : Fail(context, told.error());
}

}  // namespace

Command ServeCommand() {
  Command command;
  command.name = "serve";
  command.summary = "Show archives in a browser, and to Memento and CDX clients";
  command.details =
      "Prints its address when it is ready, and serves until SIGINT or SIGTERM; requests under way "
      "are then finished. It reads only, while other commands may write; new captures show within "
      "five seconds. Replayed pages get a port of their own, so that nothing in them reaches the "
      "archive's pages. What may be shown is said by the file access.aclj of the archive, or by "
      "--rules; who may look, by --users. Beyond this machine it serves only those who log in, or, "
      "with --public, everybody. docs/access.md has the routes.";
  command.options = {
      Repeatable({"--archive", "DIR", "The archive; else $STELE_ARCHIVE is taken", "."}),
      {"--listen", "ADDRESS:PORT", "Where to serve; port 0 is any free one", "127.0.0.1:8080"},
      {"--replay-listen", "ADDRESS:PORT", "Where replayed pages come from",
       "the same address, the next port"},
      {"--open", "", "Open a browser"},
      {"--web", "DIR", "The files of the pages", "web beside the program"},
      {"--rules", "FILE", "What may be shown, in pywb's .aclj format", "access.aclj in DIR"},
      {"--users", "FILE", "Let those in who log in; stele user makes the file"},
      {"--public", "", "Let everybody look, also without logging in"},
      {"--user-header", "NAME", "A header in which a proxy names the user that rules speak of"},
      Repeatable({"--trusted-proxy", "RANGE",
                  "Believe these what they say of clients (X-Forwarded-For, --user-header)",
                  "of --user-header: this machine"}),
      Repeatable({"--metrics-from", "RANGE", "Who reads /metrics without logging in"}),
      {"--origin", "URL", "How browsers reach the pages, behind a proxy"},
      {"--replay-origin", "URL", "How browsers reach replayed pages, behind a proxy"},
      {"--no-redirect", "",
       "Send the nearest capture at the address that was asked for, not lead to that of its time"},
      {"--certificate", "FILE", "Serve TLS with this certificate chain, in PEM"},
      {"--key", "FILE", "The certificate's private key, in PEM"},
      {"--log", "", "A line of JSON for each request, to the error output"}};
  command.examples = {{"stele serve --open", "Look at the archive in this directory"},
                      {"stele serve --archive a --archive b --listen 127.0.0.1:0",
                       "Two archives, at /a/ and /b/, on any free port"},
                      {"stele serve --users users --listen 0.0.0.0:8080 --certificate c.pem --key "
                       "k.pem",
                       "For those who log in, from anywhere"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
