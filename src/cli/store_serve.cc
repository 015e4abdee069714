#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "cli/listen_address.h"
#include "cli/stop_signals.h"
#include "cli/store_commands.h"
#include "net/http_server.h"
#include "store/remote/volume_service.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

constexpr std::chrono::seconds kGrace{10};
// Handlers mostly wait for the disk, and those that wait together share a sync.
constexpr std::size_t kWorkers = 64;

Result<std::vector<store::OwnerRule>> OwnersOf(const Arguments& arguments, Context& context) {
  const std::optional<std::string> file = arguments.Get("--owners");
  if (!file) return std::vector<store::OwnerRule>();
  const Result<std::string> text = io::ReadFile(context.fs, *file);
  if (!text) return text.error();
  Result<std::vector<store::OwnerRule>> owners = store::ParseOwners(*text);
  if (!owners) return Error{owners.error().code, fmt::format("{}: {}", *file, owners.error().text)};
  if (owners->empty()) return Error{ErrorCode::kInvalid, fmt::format("{} has no owners", *file)};
  return owners;
}

// The volumes to serve. Which instance they belong to is for their clients to say.
std::optional<store::LocalMembers> OpenVolumes(const Arguments& arguments, Context& context,
                                               ExitCode& code) {
  const std::optional<std::string> directory = arguments.Get("--store");
  const std::optional<std::string> name = arguments.Get("--volume");
  if (!directory || (name && !store::IsVolumeName(*name))) {
    Complain(context, directory ? fmt::format("'{}' is no name of a volume", *name)
                                : "say which store: --store DIR");
    code = ExitCode::kUsage;
    return std::nullopt;
  }
  const store::LocalEnvironment environment{context.fs, context.clock, context.random};
  code = ExitCode::kFailed;
  if (!name) {
    Result<store::LocalMembers> all = store::OpenLocalMembers(environment, *directory, {});
    if (!all) {
      Complain(context, all.error().text);
      return std::nullopt;
    }
    for (const Error& failure : all->failures) Complain(context, failure.text);
    return *std::move(all);
  }
  // The others are left alone, so that each may have a server of its own.
  Result<std::unique_ptr<store::MemberVolume>> opened =
      store::OpenLocalVolume(environment, *directory, *name, {});
  if (!opened) {
    Complain(context, opened.error().text);
    return std::nullopt;
  }
  store::LocalMembers single;
  single.members.push_back(*std::move(opened));
  return single;
}

std::string AddressLine(const net::HttpServerOptions& options, std::uint16_t port,
                        const std::vector<store::MemberVolume*>& volumes) {
  std::string line = OriginOf(options, port);
  for (const store::MemberVolume* volume : volumes) line += " " + volume->name();
  return line + "\n";
}

ExitCode Run(const Arguments& arguments, Context& context) {
  net::HttpServerOptions options;
  options.workers = kWorkers;
  options.limits.body_size_max = std::numeric_limits<std::uint64_t>::max() / 2;
  options.certificate_file = arguments.Get("--certificate").value_or("");
  options.key_file = arguments.Get("--key").value_or("");
  if (!SetListenAddress(arguments.Get("--listen").value_or("127.0.0.1:7300"), options)) {
    Complain(context, "--listen takes ADDRESS:PORT, such as 127.0.0.1:7300 or [::1]:7300");
    return ExitCode::kUsage;
  }
  const Result<std::string> token = TokenOf(arguments, context);
  if (!token) {
    Complain(context, token.error().text);
    return ExitCode::kFailed;
  }
  const Result<std::vector<store::OwnerRule>> owners = OwnersOf(arguments, context);
  if (!owners) {
    Complain(context, owners.error().text);
    return ExitCode::kFailed;
  }
  if (token->empty() && owners->empty() && !IsLoopback(options.address) &&
      !arguments.Has("--insecure")) {
    Complain(context,
             "without --token-file or --owners whoever reaches this address could read and write: "
             "give one of them, listen on 127.0.0.1, or say --insecure");
    return ExitCode::kUsage;
  }
  // Before the tables have threads of their own.
  StopSignals signals;
  ExitCode code = ExitCode::kDone;
  const std::optional<store::LocalMembers> served = OpenVolumes(arguments, context, code);
  if (!served) return code;
  std::vector<store::MemberVolume*> volumes;
  for (const auto& member : served->members) volumes.push_back(member.get());
  store::VolumeService service(volumes, {.token = *token, .owners = *owners});
  Result<std::unique_ptr<net::HttpServer>> server =
      net::HttpServer::Open(options, service, context.clock);
  if (!server) {
    Complain(context, server.error().text);
    return server.error().code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kFailed;
  }
  const Status told = context.out.Write(AddressLine(options, (*server)->port(), volumes));
  if (told) signals.Wait();
  (*server)->Stop(kGrace);
  if (told) return ExitCode::kDone;
  Complain(context, told.error().text);
  return ExitCode::kFailed;
}

}  // namespace

Command StoreServeCommand() {
  Command command;
  command.name = "serve";
  command.summary = "Serve volumes over HTTP";
  command.details =
      "Prints its address and the volumes' names when it is ready, and serves until SIGINT or "
      "SIGTERM; requests under way are then finished. Clients use a connector, or curl: "
      "docs/store-network.md.";
  command.options = WithStoreOptions(
      {{"--volume", "NAME", "Serve and open this volume alone"},
       {"--listen", "ADDRESS:PORT", "Where to serve; port 0 is any free one", "127.0.0.1:7300"},
       {"--token-file", "FILE", "The administrator's token"},
       {"--owners", "FILE", "Applications: their tokens and quotas (docs/store-network.md)"},
       {"--insecure", "", "Let everybody in who reaches an address beyond this machine"},
       {"--certificate", "FILE", "Serve TLS with this certificate chain, in PEM"},
       {"--key", "FILE", "The certificate's private key, in PEM"}});
  command.examples = {
      {"stele store serve --store S", "All volumes, for this machine"},
      {"stele store serve --store S --volume v1 --listen 0.0.0.0:7300 --token-file T "
       "--certificate c.pem --key k.pem",
       "One volume, for whoever has the token"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
