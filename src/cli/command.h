#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/clock.h"
#include "io/file_system.h"
#include "io/random.h"
#include "io/stream.h"
#include "util/result.h"

// Commands are tables: parsing, --help, man pages and completions are all made from them.
namespace stele::cli {

// What main() wires for the commands.
struct Context {
  io::FileSystem& fs;
  const io::Clock& clock;
  io::Random& random;
  io::Sink& out;  // data
  io::Sink& err;  // everything else
  bool err_is_terminal = false;
  int cores = 1;
  bool out_is_terminal = false;
};

// What the process returns.
enum class ExitCode : int {
  kDone = 0,
  kDefects = 1,  // checked, and found something wrong
  kUsage = 2,    // the command line is wrong
  kFailed = 3,   // could not do it
};

struct Option {
  std::string_view name;   // "--format"
  std::string_view value;  // what stands behind it, "FORMAT"; empty for a switch
  std::string_view help;
  std::string_view fallback = "";  // its value when it is not given
  bool repeats = false;            // whether it may be given several times
};

Option Repeatable(Option option);

// What a person typed, checked against the table.
struct Arguments {
  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // empty for a switch

  bool Has(std::string_view option) const { return values.contains(option); }
  // The one value, or nothing.
  std::optional<std::string> Get(std::string_view option) const;
  // All of an option that repeats.
  std::vector<std::string> GetAll(std::string_view option) const;
};

struct Example {
  std::string_view line;
  std::string_view meaning;
};

struct Command {
  std::string_view name;
  std::string_view summary;    // one line, for lists
  std::string_view details;    // paragraphs, for --help and the man page
  std::string_view arguments;  // "FILE..."; empty: takes none
  std::vector<Option> options;
  std::vector<Example> examples;
  ExitCode (*run)(const Arguments& arguments, Context& context) = nullptr;
  std::vector<Command> commands;  // or these, and run is null
  bool is_advanced = false;       // for those who look for it: not in the list of its parent
};

// The whole tree.
Command SteleCommand();

// Prints "stele: text" to the error output.
void Complain(Context& context, std::string_view text);

// "--depth takes a number such as 1000, not -1".
Error WrongValue(std::string_view option, std::string_view value, std::string_view wanted);

}  // namespace stele::cli
