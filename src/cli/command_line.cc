#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

namespace stele::cli {
namespace {

// The parser of one command, with the places its values go to.
struct Parser {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> switches;
  std::vector<std::unique_ptr<Parser>> children;
};

void Fill(Parser& parser) {
  const Command& command = *parser.command;
  parser.app->set_help_flag();  // help is ours
  parser.app->add_flag("-h,--help", parser.switches["--help"]);
  for (const Option& option : command.options) {
    const std::string name(option.name);
    if (option.value.empty()) {
      parser.app->add_flag(name, parser.switches[name]);
    } else {
      // One value each time it is given.
      parser.app->add_option(name, parser.values[name])->allow_extra_args(false);
    }
  }
  if (!command.arguments.empty()) {
    parser.app->add_option("arguments", parser.positionals)->expected(0, 1 << 30);
  }
  for (const Command& child : command.commands) {
    auto next = std::make_unique<Parser>();
    next->command = &child;
    next->app = parser.app->add_subcommand(std::string(child.name));
    Fill(*next);
    parser.children.push_back(std::move(next));
  }
}

// The command that was named, and those above it, the root first.
std::vector<const Parser*> Chosen(const Parser& root) {
  std::vector<const Parser*> path = {&root};
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const auto& child : path.back()->children) {
      if (!child->app->parsed()) continue;
      path.push_back(child.get());
      deeper = true;
      break;
    }
  }
  return path;
}

Arguments Collect(const Parser& parser) {
  Arguments arguments;
  arguments.positionals = parser.positionals;
  for (const auto& [name, values] : parser.values) {
    if (!values.empty()) arguments.values[name] = values;
  }
  for (const auto& [name, given] : parser.switches) {
    if (given) arguments.values[name] = {};
  }
  return arguments;
}

}  // namespace

std::optional<std::string> Arguments::Get(std::string_view option) const {
  const auto found = values.find(option);
  if (found == values.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::GetAll(std::string_view option) const {
  const auto found = values.find(option);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

void Complain(Context& context, std::string_view text) {
  // Where even this fails, there is nobody left to tell.
  static_cast<void>(context.err.Write(fmt::format("stele: {}\n", text)).ok());
}

ExitCode RunCommandLine(const Command& root, const std::vector<std::string>& words,
                        Context& context) {
  CLI::App app;
  Parser parser;
  parser.command = &root;
  parser.app = &app;
  Fill(parser);
  std::string wrong;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it wants them reversed
  } catch (const CLI::Error& error) {
    wrong = error.what();
  }
  const std::vector<const Parser*> chosen = Chosen(parser);
  std::vector<const Command*> path;
  bool help = words.empty();
  for (const Parser* one : chosen) {
    path.push_back(one->command);
    help = help || one->switches.at("--help");
  }
  if (help) return context.out.Write(HelpText(path)) ? ExitCode::kDone : ExitCode::kFailed;
  const Command& command = *path.back();
  if (wrong.empty() && command.run == nullptr) wrong = "Which command?";
  if (!wrong.empty()) {
    Complain(context, fmt::format("{}\nTry: {} --help", wrong, FullName(path, ' ')));
    return ExitCode::kUsage;
  }
  return command.run(Collect(*chosen.back()), context);
}

}  // namespace stele::cli
