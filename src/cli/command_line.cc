#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/similar_name.h"
#include "cli/visible_text.h"

namespace stele::cli {
namespace {

// The parser of one command, with the places its values go to.
class Parser {
 public:
  // Borrows `command` for life.
  explicit Parser(const Command& command) : command_(command) {
    app_.set_help_flag();  // help is ours
    app_.add_flag("-h,--help", switches_["--help"]);
    for (const Option& option : command.options) {
      const std::string name(option.name);
      if (option.value.empty()) {
        app_.add_flag(name, switches_[name]);
      } else {
        // One value each time it is given.
        app_.add_option(name, values_[name])->allow_extra_args(false);
      }
    }
    if (!command.arguments.empty()) {
      app_.add_option("arguments", positionals_)->expected(0, 1 << 30);
    }
  }

  // What is wrong; empty: nothing is.
  std::string Parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as it wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::Error& error) {
      return error.what();
    }
    for (const Option& option : command_.options) {
      const auto given = values_.find(std::string(option.name));
      if (option.repeats || given == values_.end() || given->second.size() < 2) continue;
      return fmt::format("{} is given twice", option.name);
    }
    return "";
  }

  bool wants_help() const { return switches_.at("--help"); }

  Arguments Collect() const {
    Arguments arguments;
    arguments.positionals = positionals_;
    for (const auto& [name, values] : values_) {
      if (!values.empty()) arguments.values[name] = values;
    }
    for (const auto& [name, given] : switches_) {
      if (given) arguments.values[name] = {};
    }
    return arguments;
  }

 private:
  const Command& command_;
  CLI::App app_;
  std::vector<std::string> positionals_;
  std::map<std::string, std::vector<std::string>> values_;
  std::map<std::string, bool> switches_;
};

const Command* ChildOf(const Command& command, std::string_view name) {
  const auto found = std::find_if(command.commands.begin(), command.commands.end(),
                                  [&](const Command& child) { return child.name == name; });
  return found == command.commands.end() ? nullptr : &*found;
}

// What may be added to a complaint about `word`; empty where nothing is like it.
std::string Guess(std::string_view word, const std::vector<std::string_view>& names) {
  const std::optional<std::string_view> meant = SimilarName(word, names);
  return meant ? fmt::format(". Did you mean {}?", *meant) : "";
}

// For the first option among `words` that `command` does not have.
std::string GuessOption(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string_view> names = {"--help"};
  for (const Option& option : command.options) names.push_back(option.name);
  for (const std::string_view word : words) {
    if (word == "--") break;
    const std::string_view name = word.substr(0, word.find('='));
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    if (word.starts_with("--") && !is_known) return Guess(name, names);
  }
  return "";
}

}  // namespace

std::optional<std::string> Arguments::Get(std::string_view option) const {
  const auto found = values.find(option);
  if (found == values.end() || found->second.empty()) return std::nullopt;
  return found->second.front();
}

std::vector<std::string> Arguments::GetAll(std::string_view option) const {
  const auto found = values.find(option);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Option Repeatable(Option option) {
  option.repeats = true;
  return option;
}

void Complain(Context& context, std::string_view text) {
  // Where even this fails, there is nobody left to tell.
  static_cast<void>(context.err.Write(fmt::format("stele: {}\n", VisibleText(text))).ok());
}

Error WrongValue(std::string_view option, std::string_view value, std::string_view wanted) {
  return Error{ErrorCode::kInvalid, fmt::format("{} takes {}, not {}", option, wanted, value)};
}

std::string NoSuchCommand(const std::vector<const Command*>& path, std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& child : path.back()->commands) names.push_back(child.name);
  return fmt::format("there is no command {} {}{}", FullName(path, ' '), word, Guess(word, names));
}

ExitCode RunCommandLine(const Command& root, const std::vector<std::string>& words,
                        Context& context) {
  // Names of commands stand first; what comes behind them may be called as it likes.
  std::vector<const Command*> path = {&root};
  auto word = words.begin();
  for (; word != words.end(); ++word) {
    const bool asks_for_version = path.size() == 1 && *word == "--version";
    const Command* child = ChildOf(*path.back(), asks_for_version ? "version" : *word);
    if (child == nullptr) break;
    path.push_back(child);
  }
  const Command& command = *path.back();
  Parser parser(command);
  const std::vector<std::string> rest(word, words.end());
  std::string wrong = parser.Parse(rest);
  if (words.empty() || parser.wants_help()) {
    return context.out.Write(HelpText(path)) ? ExitCode::kDone : ExitCode::kFailed;
  }
  if (command.run == nullptr) {
    const bool names_one = word != words.end() && !word->starts_with('-');
    wrong = names_one ? NoSuchCommand(path, *word) : "Which command?";
  }
  if (!wrong.empty()) {
    wrong += GuessOption(command, rest);
    Complain(context, fmt::format("{}\nTry: {} --help", wrong, FullName(path, ' ')));
    return ExitCode::kUsage;
  }
  return command.run(parser.Collect(), context);
}

}  // namespace stele::cli
