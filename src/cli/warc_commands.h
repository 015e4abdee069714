#pragma once

#include "cli/command.h"

// `stele warc ...`: tools for archive files that need no archive around them. One source each.
namespace stele::cli {

Command WarcCommand();  // all of them

Command WarcCatCommand();
Command WarcCheckCommand();
Command WarcConvertCommand();
Command WarcFilterCommand();
Command WarcIndexCommand();
Command WarcLsCommand();
Command WarcRecompressCommand();
Command WarcRecoverCommand();

}  // namespace stele::cli
