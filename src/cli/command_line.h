#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace stele::cli {

// Parses the words after the program's name and runs the command they name.
ExitCode RunCommandLine(const Command& root, const std::vector<std::string>& words,
                        Context& context);

// "stele warc index" for the command at the end of `path`, the root first.
std::string FullName(const std::vector<const Command*>& path, char between);

// The complaint about a command that the one at the end of `path` does not have.
std::string NoSuchCommand(const std::vector<const Command*>& path, std::string_view word);

// What --help prints. Of advanced commands it has only the names.
std::string HelpText(const std::vector<const Command*>& path);

// What the advanced commands of `command` do.
std::string AdvancedHelpText(const Command& command);

// A man page in troff, for section 1.
std::string ManPage(const std::vector<const Command*>& path, std::string_view version);

// Completions for bash, over the whole tree.
std::string BashCompletion(const Command& root);

}  // namespace stele::cli
