#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

constexpr std::size_t kColumns = 80;

// `text` in lines of at most kColumns, each but the first indented. Line ends in it are kept.
std::string Wrap(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const std::string_view line : Split(text, '\n')) {
    if (!out.empty()) {
      out += '\n';
      if (!line.empty()) out += std::string(indent, ' ');
      column = indent;
    }
    bool first = true;
    for (const std::string_view word : Split(line, ' ')) {
      if (!first && column + 1 + word.size() > kColumns) {
        out += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (!first) {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
      first = false;
    }
  }
  return out;
}

std::string Synopsis(const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  std::string line = FullName(path, ' ');
  if (!command.commands.empty()) line += " COMMAND";
  if (!command.options.empty()) line += " [OPTIONS]";
  if (!command.arguments.empty()) line += fmt::format(" {}", command.arguments);
  return line;
}

std::string LeftColumn(const Option& option) {
  if (option.value.empty()) return std::string(option.name);
  return fmt::format("{} {}", option.name, option.value);
}

std::string OptionHelp(const Option& option) {
  std::string help(option.help);
  if (option.repeats) help += "; repeatable";
  if (!option.fallback.empty()) help += fmt::format(" (default: {})", option.fallback);
  return help;
}

using Row = std::pair<std::string, std::string>;

std::string Table(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.first.size());
  std::string out;
  for (const Row& row : rows) {
    out += fmt::format("  {:<{}}  {}\n", row.first, width, Wrap(row.second, width + 4));
  }
  return out;
}

// Those of everyday in a table, the names of the others in a line.
std::string CommandsText(const Command& command) {
  std::vector<Row> rows;
  std::string advanced;
  for (const Command& child : command.commands) {
    if (child.is_advanced) {
      advanced += fmt::format("{}{}", advanced.empty() ? "" : ", ", child.name);
    } else {
      rows.emplace_back(child.name, child.summary);
    }
  }
  std::string out;
  if (!rows.empty()) out += fmt::format("\nCommands:\n{}", Table(rows));
  if (!advanced.empty()) {
    out += fmt::format("\nMore, explained by {} help advanced:\n  {}\n", command.name,
                       Wrap(advanced, 2));
  }
  return out;
}

// In troff, backslashes, minus signs and a dot or quote at the begin of a line mean something.
std::string Troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_begins = out.empty() || out.back() == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\n' && line_begins) {
      out += ".PP\n";
    } else {
      if (line_begins && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
  }
  return out;
}

void CompleteCommand(const Command& command, const std::string& path, std::string& cases) {
  std::string words = "--help";
  for (const Command& child : command.commands) words += fmt::format(" {}", child.name);
  for (const Option& option : command.options) words += fmt::format(" {}", option.name);
  cases += fmt::format("    '{}') words='{}' ;;\n", path, words);
  for (const Command& child : command.commands) {
    CompleteCommand(child, fmt::format("{} {}", path, child.name), cases);
  }
}

}  // namespace

std::string FullName(const std::vector<const Command*>& path, char between) {
  std::string name;
  for (const Command* command : path) {
    if (!name.empty()) name += between;
    name += command->name;
  }
  return name;
}

std::string HelpText(const std::vector<const Command*>& path) {
  const Command& command = *path.back();
  std::string out = fmt::format("{}\n\nUsage: {}\n", Wrap(command.summary, 0), Synopsis(path));
  if (!command.details.empty()) out += fmt::format("\n{}\n", Wrap(command.details, 0));
  out += CommandsText(command);
  std::vector<Row> rows;
  for (const Option& option : command.options) {
    rows.emplace_back(LeftColumn(option), OptionHelp(option));
  }
  rows.emplace_back("-h, --help", "Show this help");
  out += fmt::format("\nOptions:\n{}", Table(rows));
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : command.examples) {
    out += fmt::format("  {}\n      {}\n", example.line, Wrap(example.meaning, 6));
  }
  return out;
}

std::string AdvancedHelpText(const Command& command) {
  std::vector<Row> rows;
  for (const Command& child : command.commands) {
    if (child.is_advanced) rows.emplace_back(child.name, child.summary);
  }
  return fmt::format("Advanced commands:\n{}\nEach has its own help: {} COMMAND --help\n",
                     Table(rows), command.name);
}

std::string ManPage(const std::vector<const Command*>& path, std::string_view version) {
  const Command& command = *path.back();
  const std::string name = FullName(path, '-');
  std::string out = fmt::format(".TH {} 1 \"\" \"Stele {}\" \"User Commands\"\n", name, version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", Troff(name), Troff(command.summary));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", Troff(Synopsis(path)));
  if (!command.details.empty()) {
    out += fmt::format(".SH DESCRIPTION\n{}\n", Troff(command.details));
  }
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const Command& child : command.commands) {
    out += fmt::format(".TP\n.B {}\n{}. See {}(1).\n", Troff(child.name), Troff(child.summary),
                       Troff(fmt::format("{}-{}", name, child.name)));
  }
  if (!command.options.empty()) out += ".SH OPTIONS\n";
  for (const Option& option : command.options) {
    out += fmt::format(".TP\n.B {}\n{}\n", Troff(LeftColumn(option)), Troff(OptionHelp(option)));
  }
  if (!command.examples.empty()) out += ".SH EXAMPLES\n";
  for (const Example& example : command.examples) {
    out += fmt::format(".TP\n.B {}\n{}\n", Troff(example.line), Troff(example.meaning));
  }
  out +=
      ".SH EXIT STATUS\n0: done. 1: checked, and found defects. 2: wrong usage. 3: could not do "
      "it.\n";
  return out;
}

std::string BashCompletion(const Command& root) {
  std::string cases;
  CompleteCommand(root, std::string(root.name), cases);
  return fmt::format(
      "# Completions of {0} for bash.\n"
      "_{0}() {{\n"
      "  local path='{0}' words='' word\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$word\" in -*) ;; *) path=\"$path $word\" ;; esac\n"
      "  done\n"
      "  case \"$path\" in\n{1}  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\")\n"
      "}}\n"
      "complete -o default -F _{0} {0}\n",
      root.name, cases);
}

}  // namespace stele::cli
