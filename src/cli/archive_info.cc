#include <fmt/format.h>

#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/dependency_text.h"
#include "util/json.h"

namespace stele::cli {
namespace {

struct Sums {
  std::uint64_t captures = 0;
  std::uint64_t removed = 0;  // others, whose bytes are still here
  std::uint64_t bytes = 0;
  std::uint64_t losses = 0;
};

Sums SumsOf(const archive::Holdings& holdings) {
  Sums sums;
  for (const auto& [batch, count] : holdings.CountByBatch()) {
    sums.captures += count.captures;
    sums.removed += count.removed;
  }
  for (const auto& [number, container] : holdings.containers()) {
    sums.bytes += container.bytes;
    sums.losses += container.losses;
  }
  return sums;
}

struct VolumeSums {
  std::string name;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t waiting = 0;  // of a remote volume: files that are not there yet
};

std::vector<VolumeSums> VolumesOf(const archive::ArchiveView& view) {
  std::vector<VolumeSums> sums;
  for (const archive::ArchiveConfig::Volume& volume : view.layout().config().volumes) {
    sums.push_back({volume.name});
    for (const auto& [number, container] : view.holdings().containers()) {
      if (container.volume != volume.name) continue;
      ++sums.back().files;
      sums.back().bytes += container.bytes;
      if (view.layout().Waits(container)) ++sums.back().waiting;
    }
  }
  return sums;
}

std::string InfoText(const archive::ArchiveView& view) {
  const archive::ArchiveConfig& config = view.layout().config();
  const archive::Holdings& holdings = view.holdings();
  const Sums sums = SumsOf(holdings);
  std::string out = fmt::format("{}\n", config.title);
  for (const auto& [name, value] :
       {std::pair("description", config.description), std::pair("creator", config.creator),
        std::pair("rights", config.rights), std::pair("contact", config.contact),
        std::pair("language", config.language)}) {
    if (!value.empty()) out += fmt::format("{}: {}\n", name, value);
  }
  out += fmt::format("{} in {}, {}\n", Count(sums.captures, "capture"),
                     Count(holdings.containers().size(), "container"), ByteCount(sums.bytes));
  if (const std::size_t growing = holdings.open_containers().size(); growing > 0) {
    out += fmt::format("{}; what is in there counts when a crawl has finished it\n",
                       growing == 1 ? "1 more grows" : fmt::format("{} more grow", growing));
  }
  if (sums.removed > 0) {
    out += fmt::format(
        "{} taken down; stele rm --purge deletes the bytes\n",
        sums.removed == 1 ? "1 other was" : fmt::format("{} others were", sums.removed));
  }
  if (sums.losses > 0) out += fmt::format("{} could not be read\n", Count(sums.losses, "place"));
  for (const archive::Dependency& dependency : holdings.dependencies()) {
    out += DependencyText(dependency) + '\n';
  }
  const std::vector<VolumeSums> volumes = VolumesOf(view);
  if (volumes.size() > 1) {
    out += "\nvolumes:\n";
    for (const VolumeSums& volume : volumes) {
      out += fmt::format("  {}  {}, {}{}\n", volume.name, Count(volume.files, "file"),
                         ByteCount(volume.bytes),
                         volume.waiting > 0 ? fmt::format(", {} wait here", volume.waiting) : "");
    }
  }
  out += "\nruns:\n";
  for (const auto& [number, run] : holdings.runs()) {
    const std::uint64_t removed = holdings.RemovedOfRun(number);
    out += fmt::format("  {:>4}  {}  {:<8} {:>10} captures  {}{}{}\n", number, FormatIso(run.begin),
                       run.kind, run.captures, run.note, run.end ? "" : "  (not ended)",
                       removed > 0 ? fmt::format("  ({} taken down)", removed) : "");
  }
  return out;
}

std::string InfoJson(const archive::ArchiveView& view) {
  const archive::ArchiveConfig& config = view.layout().config();
  const archive::Holdings& holdings = view.holdings();
  const Sums sums = SumsOf(holdings);
  std::string out = "{";
  for (const auto& [name, value] :
       {std::pair("title", config.title), std::pair("description", config.description),
        std::pair("creator", config.creator), std::pair("rights", config.rights),
        std::pair("contact", config.contact), std::pair("language", config.language)}) {
    out += fmt::format("\"{}\": ", name);
    AppendJsonString(out, value);
    out += ", ";
  }
  out += fmt::format(
      "\"captures\": {}, \"removed\": {}, \"containers\": {}, \"growing\": {}, \"bytes\": {}, "
      "\"losses\": {}, \"volumes\": [",
      sums.captures, sums.removed, holdings.containers().size(), holdings.open_containers().size(),
      sums.bytes, sums.losses);
  for (const VolumeSums& volume : VolumesOf(view)) {
    if (out.back() != '[') out += ", ";
    out += fmt::format("{{\"volume\": \"{}\", \"files\": {}, \"bytes\": {}, \"waiting\": {}}}",
                       volume.name, volume.files, volume.bytes, volume.waiting);
  }
  out += "], \"runs\": [";
  for (const auto& [number, run] : holdings.runs()) {
    if (out.back() != '[') out += ", ";
    out += fmt::format("{{\"run\": {}, \"kind\": \"{}\", \"begin\": \"{}\", \"end\": ", number,
                       run.kind, FormatIso(run.begin));
    out += run.end ? fmt::format("\"{}\"", FormatIso(*run.end)) : "null";
    out += fmt::format(", \"containers\": {}, \"captures\": {}, \"removed\": {}, \"note\": ",
                       run.containers, run.captures, holdings.RemovedOfRun(number));
    AppendJsonString(out, run.note);
    out += '}';
  }
  out += "], \"dependencies\": [";
  for (const archive::Dependency& dependency : holdings.dependencies()) {
    if (out.back() != '[') out += ", ";
    out += DependencyJson(dependency);
  }
  return out + "]}\n";
}

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  const Status written =
      context.out.Write(arguments.Has("--json") ? InfoJson(view) : InfoText(view));
  return written ? code : Fail(context, written.error());
}

}  // namespace

Command InfoCommand() {
  Command command;
  command.name = "info";
  command.summary = "Say what an archive holds, and which runs brought it";
  command.details =
      "Title and the like come from archive.toml and may be changed there. A run is one import or "
      "one crawl.";
  command.options = WithArchiveOption({{"--json", "", "As a JSON object"}});
  command.examples = {{"stele info --archive my-archive", "What is in there?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
