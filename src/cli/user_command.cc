// `stele user ...`: the file of those who may look at what `stele serve` shows. Passwords come from
// the terminal or the standard input, never from the command line, where others could read them.
#include "cli/user_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "access/users.h"
#include "cli/stop_signals.h"
#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/json.h"

namespace stele::cli {
namespace {

constexpr std::size_t kTokenSize = 24;
constexpr int kOnlyOwner = 077;
constexpr int kLookMilliseconds = 100;

// Does not show what is typed, as long as it lives.
class HiddenTyping {
 public:
  HiddenTyping() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
  }
  ~HiddenTyping() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

// One line of the standard input, without its end.
std::string ReadLine() {
  std::string line;
  char c = 0;
  while (line.size() <= access::kPasswordLengthMax && ::read(STDIN_FILENO, &c, 1) == 1) {
    if (c == '\n') break;
    line += c;
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

// Nothing when the person gives up (Ctrl-C): the terminal must show again then what is typed.
std::optional<std::string> AskFor(Context& context, std::string_view what) {
  StopSignals signals;
  const HiddenTyping hidden;
  static_cast<void>(context.err.Write(fmt::format("{}: ", what)));
  pollfd typed{STDIN_FILENO, POLLIN, 0};
  bool stopped = false;
  while (!stopped && ::poll(&typed, 1, kLookMilliseconds) <= 0) {
    stopped = signals.Came();
  }
  std::optional<std::string> line;
  if (!stopped) line = ReadLine();
  static_cast<void>(context.err.Write("\n"));
  return line;
}

// Nothing after a complaint, or when the person gave up.
std::optional<std::string> PasswordFor(Context& context, const std::string& name) {
  const bool typed = ::isatty(STDIN_FILENO) != 0;
  const std::optional<std::string> given =
      typed ? AskFor(context, fmt::format("Password of {}", name)) : ReadLine();
  if (!given) return std::nullopt;
  const std::string& password = *given;
  if (password.size() < access::kPasswordLengthMin ||
      password.size() > access::kPasswordLengthMax) {
    Complain(context, fmt::format("a password has {} to {} bytes", access::kPasswordLengthMin,
                                  access::kPasswordLengthMax));
    return std::nullopt;
  }
  const std::optional<std::string> again = typed ? AskFor(context, "Again") : given;
  if (!again) return std::nullopt;
  if (*again != password) {
    Complain(context, "these are two different passwords");
    return std::nullopt;
  }
  return password;
}

// No users where there is no file.
Result<access::Users> ReadUsers(Context& context, const std::string& path) {
  const Result<std::string> text = io::ReadFile(context.fs, path);
  if (!text && text.error().code == ErrorCode::kNotFound) return access::Users();
  if (!text) return text.error();
  return access::Users::Parse(*text);
}

ExitCode Fail(Context& context, const Error& error) {
  Complain(context, error.text);
  return error.code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kFailed;
}

ExitCode Write(Context& context, const std::string& path, const access::Users& users) {
  ::umask(kOnlyOwner);
  const Status written = io::ReplaceFile(context.fs, path, users.Format());
  return written ? ExitCode::kDone : Fail(context, written.error());
}

// What all of them begin with: the file, and a good name where one is needed.
struct Task {
  std::string path;
  std::string name;
  access::Users users;
};
enum class Needs { kFile, kName };

// Nothing after a complaint; `code` then says why.
std::optional<Task> Begin(const Arguments& arguments, Context& context, Needs needs,
                          ExitCode& code) {
  Task task;
  task.path = arguments.Get("--users").value_or("");
  if (arguments.positionals.size() == 1) task.name = arguments.positionals[0];
  code = ExitCode::kUsage;
  if (task.path.empty()) {
    Complain(context, "say which file: --users FILE");
    return std::nullopt;
  }
  if (needs == Needs::kName && !access::IsUserName(task.name)) {
    Complain(context, "say one name, of 1 to 64 letters, digits, '.', '-', '_' and '@'");
    return std::nullopt;
  }
  Result<access::Users> users = ReadUsers(context, task.path);
  if (!users) {
    code = Fail(context, users.error());
    return std::nullopt;
  }
  task.users = *std::move(users);
  return task;
}

ExitCode RunAdd(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<Task> task = Begin(arguments, context, Needs::kName, code);
  if (!task) return code;
  const std::optional<std::string> password = PasswordFor(context, task->name);
  if (!password) return ExitCode::kUsage;
  task->users.SetPassword(task->name, access::PasswordHash::Of(*password, context.random));
  return Write(context, task->path, task->users);
}

ExitCode RunToken(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<Task> task = Begin(arguments, context, Needs::kName, code);
  if (!task) return code;
  const std::string token = HexEncode(access::RandomBytes(context.random, kTokenSize));
  task->users.AddToken(task->name, token);
  code = Write(context, task->path, task->users);
  if (code != ExitCode::kDone) return code;
  return context.out.Write(token + "\n") ? ExitCode::kDone : ExitCode::kFailed;
}

ExitCode RunRm(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::optional<Task> task = Begin(arguments, context, Needs::kName, code);
  if (!task) return code;
  if (!task->users.Remove(task->name)) {
    Complain(context, fmt::format("{} has no user {}", task->path, task->name));
    return ExitCode::kFailed;
  }
  return Write(context, task->path, task->users);
}

ExitCode RunLs(const Arguments& arguments, Context& context) {
  if (const auto path = arguments.Get("--users")) {
    const auto file = context.fs.OpenForReading(*path);
    if (!file) return Fail(context, file.error());
  }
  ExitCode code = ExitCode::kDone;
  const std::optional<Task> task = Begin(arguments, context, Needs::kFile, code);
  if (!task) return code;
  for (const auto& [name, user] : task->users.all()) {
    std::string line;
    if (arguments.Has("--json")) {
      line = "{\"user\": ";
      AppendJsonString(line, name);
      line += fmt::format(", \"password\": {}, \"tokens\": {}}}\n", user.password.has_value(),
                          user.token_hashes.size());
    } else {
      line = fmt::format("{}  {}, {} token{}\n", name, user.password ? "password" : "no password",
                         user.token_hashes.size(), user.token_hashes.size() == 1 ? "" : "s");
    }
    if (!context.out.Write(line)) return ExitCode::kFailed;
  }
  return ExitCode::kDone;
}

Command Sub(std::string_view name, std::string_view summary, std::string_view details,
            std::string_view arguments, const Example& example,
            ExitCode (*run)(const Arguments&, Context&)) {
  Command command;
  command.name = name;
  command.summary = summary;
  command.details = details;
  command.arguments = arguments;
  command.options = {{"--users", "FILE", "The file of users"}};
  command.examples = {example};
  command.run = run;
  return command;
}

}  // namespace

Command UserCommand() {
  Command command;
  command.name = "user";
  command.summary = "Say who may look at what stele serve shows";
  command.details =
      "Keeps the file that stele serve --users reads: names with hashes of passwords and tokens, "
      "never these themselves. A server takes changes up within seconds.";
  command.examples = {
      {"stele user add ada --users users", "Ask for a password, for a browser"},
      {"stele user token robot --users users >token", "A token, for a program"},
      {"stele serve --users users --listen 0.0.0.0:8080 --certificate c.pem --key k.pem",
       "Serve those only"}};
  command.commands = {
      Sub("add", "Add a user, or give one another password",
          "The password is typed twice, or is the first line of the standard input.", "NAME",
          {"stele user add ada --users users", "Asks for the password"}, RunAdd),
      Sub("token", "Make a token for a user",
          "Prints a new token, which a program sends as Authorization: Bearer. It cannot be shown "
          "again.",
          "NAME", {"stele user token robot --users users >token", "For a program"}, RunToken),
      Sub("rm", "Remove a user with all its tokens", "", "NAME",
          {"stele user rm ada --users users", "Within seconds she is asked to log in"}, RunRm),
      Sub("ls", "List the users", "", "", {"stele user ls --users users", "Who may look?"}, RunLs)};
  command.commands.back().options.push_back({"--json", "", "As lines of JSON objects"});
  return command;
}

}  // namespace stele::cli
