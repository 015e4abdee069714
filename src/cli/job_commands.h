#pragma once

#include "cli/command.h"

// stele job, one file for each kind of command.
namespace stele::cli {

Command JobCommand();

// What is there, and when it runs.
Command JobLsCommand();
Command JobShowCommand();
Command JobCheckCommand();
Command JobInstallCommand();
Command JobRunCommand();

// Of a crawl that runs.
Command JobStatusCommand();
Command JobPauseCommand();
Command JobResumeCommand();
Command JobStopCommand();
Command JobAddCommand();
Command JobSetCommand();
Command JobHandoverCommand();

}  // namespace stele::cli
