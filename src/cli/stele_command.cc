#include <fmt/format.h>

#include "cli/archive_commands.h"
#include "cli/command_line.h"
#include "cli/dedup_commands.h"
#include "cli/job_commands.h"
#include "cli/store_commands.h"
#include "cli/user_command.h"
#include "cli/warc_commands.h"

namespace stele::cli {
namespace {

ExitCode RunVersion(const Arguments&, Context& context) {
  const Status written = context.out.Write("stele " STELE_VERSION "\n");
  return written ? ExitCode::kDone : ExitCode::kFailed;
}

ExitCode RunHelp(const Arguments& arguments, Context& context) {
  const Command root = SteleCommand();
  if (arguments.positionals == std::vector<std::string>{"advanced"}) {
    return context.out.Write(AdvancedHelpText(root)) ? ExitCode::kDone : ExitCode::kFailed;
  }
  std::vector<const Command*> path = {&root};
  for (const std::string& word : arguments.positionals) {
    const std::vector<Command>& children = path.back()->commands;
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const Command& child) { return child.name == word; });
    if (found == children.end()) {
      Complain(context, NoSuchCommand(path, word));
      return ExitCode::kUsage;
    }
    path.push_back(&*found);
  }
  return context.out.Write(HelpText(path)) ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

Command WarcCommand() {
  Command command;
  command.name = "warc";
  command.summary = "Read, check, index, mend and convert WARC, ARC and Tianwang files";
  command.details =
      "Every command takes several files, WARC (0.17 to 1.1), ARC or Tianwang, plain, gzip or "
      "zstd, and - for the standard input. The format is seen from the first bytes, not from the "
      "name. Damaged places are passed and named, byte range by byte range.";
  command.examples = {{"stele warc ls crawl.warc.gz", "What is in there?"},
                      {"stele warc check *.warc.gz", "Is it all right?"},
                      {"stele warc index --sort *.warc.gz >all.cdxj", "Index for replay"}};
  command.commands = {WarcLsCommand(),      WarcCatCommand(),    WarcCheckCommand(),
                      WarcIndexCommand(),   WarcFilterCommand(), WarcRecompressCommand(),
                      WarcConvertCommand(), WarcRecoverCommand()};
  return command;
}

Command SteleCommand() {
  Command version;
  version.name = "version";
  version.summary = "Print the version";
  version.run = RunVersion;
  Command help;
  help.name = "help";
  help.summary = "Explain a command";
  help.arguments = "[COMMAND]...";
  help.details = "stele help advanced lists the commands that are not for every day.";
  help.examples = {{"stele help warc index", "The same as: stele warc index --help"},
                   {"stele help advanced", "What else there is"}};
  help.run = RunHelp;
  Command root;
  root.name = "stele";
  root.summary = "Stele, a web archive in one program";
  root.details = "Data goes to the standard output, messages to the error output.";
  root.examples = {{"stele crawl example.org", "Capture a web site"},
                   {"stele import --archive my-archive *.warc.gz", "Make an archive"},
                   {"stele warc check *.warc.gz", "Check web archive files"}};
  root.commands = {
      CrawlCommand(),   ImportCommand(), ExportCommand(), LsCommand(),    GetCommand(),
      ChangesCommand(), DiffCommand(),   ReportCommand(), ServeCommand(), VerifyCommand(),
      RmCommand(),      InfoCommand(),   WarcCommand(),   help,           version};
  for (Command advanced : {JobCommand(), UserCommand(), HoldCommand(), BatchCommand(),
                           ReindexCommand(), StoreCommand(), DedupCommand(), StudyCommand()}) {
    advanced.is_advanced = true;
    root.commands.push_back(std::move(advanced));
  }
  return root;
}

}  // namespace stele::cli
