// What a crawl came to and leaves to another node.
#include <fmt/format.h>

#include "cli/archive_commands.h"
#include "cli/job_commands.h"
#include "crawl/crawl_job.h"
#include "crawl/host_share.h"
#include "crawl/missing_embeds.h"
#include "crawl/run_log.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

constexpr std::size_t kPieceSize = 64 * 1024;

// The folder of the newest run of a crawl: of this job, or of any.
Result<std::string> NewestRun(const std::string& directory, const std::optional<std::string>& job,
                              Context& context) {
  auto reader = archive::ArchiveReader::Open(context.fs, directory);
  if (!reader) return reader.error();
  const archive::ArchiveView view = (*reader)->View();
  std::optional<std::string> folder;
  for (const auto& [number, run] : view.holdings().runs()) {
    const std::string name(crawl::JobOf(run));
    if (name.empty() || (job && name != *job)) continue;
    folder = crawl::JobFolder(directory, name).RunFolder(number);
  }
  if (folder) return *folder;
  return Error{ErrorCode::kNotFound, fmt::format("{} has no run of such a job", directory)};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::vector<std::string>& words = arguments.positionals;
  const auto node = words.size() == 1 ? ParseDecimal(words[0]) : std::nullopt;
  if (!node || *node == 0 || *node > crawl::HostShare::kNodesMax) {
    return Fail(context,
                {ErrorCode::kInvalid, "say for which node: stele job handover 2 > urls.txt"});
  }
  const Result<std::string> folder =
      NewestRun(ArchiveDirectory(arguments), arguments.Get("--job"), context);
  if (!folder) return Fail(context, folder.error());
  const std::string reason = crawl::HostShare::ReasonFor(static_cast<std::uint32_t>(*node));
  std::string urls;
  Status written;
  const Status read = crawl::ReadLogLines(
      context.fs, crawl::RunLog::ScopeLogPath(*folder), [&](std::string_view text) {
        const std::optional<crawl::ScopeLine> line = crawl::ParseScopeLine(text);
        if (!line || line->reason != reason || !written) return;
        urls += fmt::format("{}\n", line->url);
        if (urls.size() < kPieceSize) return;
        written = context.out.Write(std::exchange(urls, {}));
      });
  if (!read) return Fail(context, read.error());
  if (written) written = context.out.Write(urls);
  return written ? ExitCode::kDone : Fail(context, written.error());
}

}  // namespace

Command JobHandoverCommand() {
  Command command;
  command.name = "handover";
  command.summary = "URLs that belong to another node";
  command.details =
      "Where each of several nodes crawls a share of the hosts (stele crawl --share 1/3), this "
      "prints what the newest run of this one came to and leaves to node NODE, one URL in each "
      "line. The other takes them with stele job add --from.";
  command.arguments = "NODE";
  command.options =
      WithArchiveOption({{"--job", "NAME", "The job, where an archive has several", "any"}});
  command.examples = {
      {"stele job handover 2 > urls.txt", "What is for the second node"},
      {"stele job add --archive other --from urls.txt", "The second node takes it"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
