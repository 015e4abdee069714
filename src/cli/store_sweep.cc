#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/output.h"
#include "cli/store_commands.h"
#include "store/sweep.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

// The blocks that the owner claims, by volume, as Sweep() wants them.
using Kept = std::map<std::string, std::vector<store::ContentKey>, std::less<>>;

Result<Kept> ReadKept(const std::string& file, const store::Instance& instance, Context& context) {
  const Result<std::string> text = io::ReadFile(context.fs, file);
  if (!text) return text.error();
  Kept kept;
  int number = 0;
  for (const std::string_view line : Split(*text, '\n')) {
    ++number;
    const std::string_view word = TrimSpace(line.substr(0, line.find("  ")));  // as put prints it
    if (word.empty()) continue;
    std::optional<store::ContentKey> key = store::ContentKey::Parse(word);
    // What the owner knows by a key of former times is kept where it lies now.
    const Result<store::ContentKey> now =
        key ? instance.Resolve(*key) : Error{ErrorCode::kInvalid, ""};
    if (!now && key) return now.error();
    if (!key || instance.Find(now->volume) == nullptr) {
      return Error{ErrorCode::kInvalid, fmt::format("{}: line {} is no key of this store: {}", file,
                                                    number, word.substr(0, 100))};
    }
    if (*now != *key && instance.Find(key->volume) != nullptr) {
      kept[key->volume].push_back(*std::move(key));
    }
    kept[now->volume].push_back(*now);
  }
  for (auto& [volume, keys] : kept) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  return kept;
}

std::string LinesOf(const std::vector<store::ContentKey>& keys) {
  std::string lines;
  for (const store::ContentKey& key : keys) {
    lines += store::BlockName(key.signature, key.overflow) + '\n';
  }
  return lines;
}

// The id comes last: with it the lists are complete.
Status Begin(store::Instance& instance, const std::string& owner, const std::string& directory,
             Context& context) {
  Status status = context.fs.MakeDirectory(directory);
  for (const auto& volume : instance.volumes()) {
    if (!status) return status;
    Result<std::unique_ptr<OutputFile>> list =
        OutputFile::Create(context, directory + '/' + volume->name(), true);
    if (!list) return list.error();
    status = store::ListForSweep(*volume, owner, **list);
    if (status) status = (*list)->Commit();
  }
  if (!status) return status;
  std::string id = io::NewUuid(context.random);
  std::erase(id, '-');
  return io::ReplaceFile(context.fs, directory + "/id", id);
}

Status Finish(store::Instance& instance, const std::string& owner, const std::string& directory,
              const std::string& kept_file, Context& context) {
  const Result<std::string> id = io::ReadFile(context.fs, directory + "/id");
  if (!id) return id.error();
  const Result<Kept> kept = ReadKept(kept_file, instance, context);
  if (!kept) return kept.error();
  for (const auto& volume : instance.volumes()) {
    Result<std::unique_ptr<io::ReadableFile>> list =
        context.fs.OpenForReading(directory + '/' + volume->name());
    if (!list) return list.error();
    io::FileSource listed(*std::move(list));
    const auto found = kept->find(volume->name());
    const std::string lines = found == kept->end() ? "" : LinesOf(found->second);
    io::MemorySource claimed(lines);
    const Result<store::Swept> swept = store::Sweep(*volume, {owner, *id}, listed, claimed);
    if (!swept) return swept.error();
    const Status told = context.out.Write(
        fmt::format("{}  kept {}  released {}  references {}\n", volume->name(), swept->kept_blocks,
                    swept->released_blocks, swept->released_references));
    if (!told) return told;
  }
  return {};
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::optional<std::string> owner = arguments.Get("--owner");
  const std::optional<std::string> begin = arguments.Get("--begin");
  const std::optional<std::string> finish = arguments.Get("--finish");
  const std::optional<std::string> keep = arguments.Get("--keep");
  if (!owner || begin.has_value() == finish.has_value() || finish.has_value() != keep.has_value()) {
    Complain(context,
             "say --owner NAME and --begin DIR, or --owner NAME, --finish DIR and --keep "
             "FILE");
    return ExitCode::kUsage;
  }
  ExitCode code = ExitCode::kDone;
  std::optional<OpenedStore> store = OpenStore(arguments, context, code);
  if (!store) return code;
  if (!store->failures.empty()) return ExitCode::kFailed;
  const Status done = begin ? Begin(*store->instance, *owner, *begin, context)
                            : Finish(*store->instance, *owner, *finish, *keep, context);
  if (done) return ExitCode::kDone;
  Complain(context, done.error().text);
  return ExitCode::kFailed;
}

}  // namespace

Command StoreSweepCommand() {
  Command command;
  command.name = "sweep";
  command.summary = "Take back references that an application has forgotten";
  command.details =
      "In two steps, so that the application can go on: --begin writes down what the owner holds "
      "now. Then the application writes the keys of everything it claims into a file, one in each "
      "line, in any order. --finish takes back what was held at the begin and is not claimed. What "
      "was stored since the begin stays. A sweep that was interrupted can be finished again.";
  command.options =
      WithConnectorOptions({{"--owner", "NAME", "The application; others are not touched"},
                            {"--begin", "DIR", "Write down what it holds"},
                            {"--finish", "DIR", "Take back what was written down and not claimed"},
                            {"--keep", "FILE", "With --finish: the keys that it claims"}});
  command.examples = {
      {"stele store sweep --store S --owner crawler --begin sweep", "First"},
      {"stele store sweep --store S --owner crawler --finish sweep --keep keys", "Then"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
