#include "cli/job_commands.h"

namespace stele::cli {

Command JobCommand() {
  Command command;
  command.name = "job";
  command.summary = "Crawls by schedule, and crawls that run: watch, pause, stop, change";
  command.details =
      "A job is a crawl that an archive knows: crawl/JOB/job.toml in it has seeds, scope, limits "
      "and schedule. `stele crawl URL` makes one, `stele job install` makes one of a file.";
  command.examples = {{"stele job status --watch", "How far is the crawl in this archive?"},
                      {"stele job ls", "Which jobs are there, and which are due?"},
                      {"stele job run", "Run them when they are"}};
  command.commands = {JobLsCommand(),      JobShowCommand(),   JobCheckCommand(),
                      JobInstallCommand(), JobRunCommand(),    JobStatusCommand(),
                      JobPauseCommand(),   JobResumeCommand(), JobStopCommand(),
                      JobAddCommand(),     JobSetCommand(),    JobHandoverCommand()};
  return command;
}

}  // namespace stele::cli
