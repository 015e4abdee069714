// The load generator of bench/store_run: many clients of one contender, each on its own thread with
// its own connections, steered by commands on standard input, one line of JSON for each.
//
//   store CLIENTS FIRST COUNT           stores pages FIRST .. FIRST + COUNT - 1
//   mix CLIENTS FIRST COUNT PERCENT OTHER  stores COUNT pages: PERCENT of them from FIRST on, the
//                                       others from OTHER on
//   retrieve CLIENTS FIRST COUNT TIMES  reads and verifies
//   delete CLIENTS FIRST COUNT          takes one reference of each away
//   mode regular|compare|force-new      how to store from now on
//   choose yes|no                       whether clients choose the volume themselves
//   mount URL                           NFS clients go to another directory
//
// The pages of a command are dealt out to the clients. All begin together; the time ends when the
// last is done. Nothing may fail.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "store/remote/wire.h"
#include "store/signature.h"
#include "store_load/pages.h"
#include "store_load/process_cost.h"
#include "store_load/store_client.h"
#include "util/ascii.h"

namespace stele::bench {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

struct Settings {
  std::string connector_file;
  std::string nfs_url;
  std::size_t clients_max = 35;
  std::size_t pages = 1000;
  std::size_t page_bytes = 19'200;
  std::uint64_t seed = 1;
  std::vector<pid_t> servers;
};

// What one client did.
struct Tally {
  std::vector<float> latencies_us;
  std::map<std::string, std::size_t> blocks_by_volume;  // new ones
  std::optional<Error> failure;
};

struct Command {
  std::string action;
  std::size_t clients = 0;
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t extra = 0;  // TIMES or PERCENT
  std::size_t other = 0;
};

class Load {
 public:
  explicit Load(const Settings& settings)
      : settings_(settings),
        pages_(MakePages(settings.pages, settings.page_bytes, settings.seed)),
        keys_(settings.pages) {
    for (const std::string& page : pages_)
      signatures_.push_back(store::Sha256Signatures().Of(page));
  }

  Status Connect() {
    for (std::size_t i = 0; i < settings_.clients_max; ++i) {
      clients_.push_back(settings_.nfs_url.empty()
                             ? NewSteleClient({settings_.connector_file, manner_})
                             : NewNfsClient({settings_.nfs_url}));
      if (clients_.back() == nullptr) {
        return Error{ErrorCode::kInvalid, "built without libnfs: install libnfs-dev, build again"};
      }
      if (Status done = clients_.back()->Connect(); !done) return done;
    }
    return {};
  }

  // A line of JSON.
  Result<std::string> Run(const std::string& line) {
    std::istringstream words(line);
    Command command;
    words >> command.action;
    if (command.action == "mode" || command.action == "choose") return SetManner(words);
    if (command.action == "mount") {
      words >> settings_.nfs_url;
      clients_.clear();
      const Status connected = Connect();
      if (!connected) return connected.error();
      return std::string("{}");
    }
    words >> command.clients >> command.first >> command.count;
    const bool known = command.action == "store" || command.action == "delete" ||
                       command.action == "retrieve" || command.action == "mix";
    if (command.action == "retrieve") words >> command.extra;
    if (command.action == "mix") words >> command.extra >> command.other;
    if (!words || !known || command.clients == 0 || command.clients > clients_.size() ||
        std::max(command.first, command.other) + command.count > pages_.size()) {
      return Error{ErrorCode::kInvalid, fmt::format("cannot do '{}'", line)};
    }
    return Measure(command);
  }

 private:
  Result<std::string> SetManner(std::istringstream& words) {
    std::string value;
    words >> value;
    if (const auto mode = store::wire::ModeByName(value)) {
      manner_.mode = *mode;
    } else if (value == "yes" || value == "no") {
      manner_.choose_volume = value == "yes";
    } else {
      return Error{ErrorCode::kInvalid, fmt::format("there is no manner '{}'", value)};
    }
    return std::string("{}");
  }

  Result<std::string> Measure(const Command& command) {
    ++sequence_;
    std::vector<Tally> tallies(command.clients);
    std::barrier begin(static_cast<std::ptrdiff_t>(command.clients) + 1);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < command.clients; ++i) {
      tallies[i].latencies_us.reserve(command.count / command.clients + 1);
      threads.emplace_back([&, i] {
        begin.arrive_and_wait();
        RunClient(command, i, tallies[i]);
      });
    }
    const ProcessCost client_before = CostOfThisProcess();
    const ProcessCost server_before = CostOf(settings_.servers);
    begin.arrive_and_wait();
    const auto start = steady_clock::now();
    for (std::thread& thread : threads) thread.join();
    const double seconds = duration<double>(steady_clock::now() - start).count();
    const ProcessCost client = CostOfThisProcess() - client_before;
    const ProcessCost server = CostOf(settings_.servers) - server_before;
    for (const Tally& tally : tallies) {
      if (tally.failure) return *tally.failure;
    }
    return Json(command, tallies, seconds, client, server);
  }

  void RunClient(const Command& command, std::size_t client, Tally& tally) {
    const std::size_t times = command.action == "retrieve" ? command.extra : 1;
    for (std::size_t time = 0; time < times; ++time) {
      for (std::size_t i = client; i < command.count; i += command.clients) {
        const auto start = steady_clock::now();
        const Status done = RunOne(command, *clients_[client], i, tally);
        const auto taken = duration<float, std::micro>(steady_clock::now() - start);
        if (!done) {
          tally.failure = done.error();
          return;
        }
        tally.latencies_us.push_back(taken.count());
      }
    }
  }

  Status RunOne(const Command& command, StoreClient& client, std::size_t i, Tally& tally) {
    std::size_t page = command.first + i;
    if (command.action == "retrieve") return client.Retrieve(keys_[page], signatures_[page]);
    const std::string operation = fmt::format("{:x}-{}-{}", settings_.seed, sequence_, page);
    if (command.action == "delete") return client.Delete(keys_[page], operation);
    if (command.action == "mix") {
      const bool known = (i + 1) * command.extra / 100 > i * command.extra / 100;
      if (!known) page = command.other + i;
    }
    Result<StoreClient::Kept> kept = client.Store(pages_[page], page, operation);
    if (!kept) return kept.error();
    if (kept->is_new) ++tally.blocks_by_volume[kept->volume];
    keys_[page] = std::move(kept->key);
    return {};
  }

  std::string Json(const Command& command, const std::vector<Tally>& tallies, double seconds,
                   const ProcessCost& client, const ProcessCost& server) const {
    std::vector<float> all;
    std::map<std::string, std::size_t> volumes;
    std::size_t blocks = 0;
    for (const Tally& tally : tallies) {
      all.insert(all.end(), tally.latencies_us.begin(), tally.latencies_us.end());
      for (const auto& [name, count] : tally.blocks_by_volume) {
        volumes[name] += count;
        blocks += count;
      }
    }
    std::sort(all.begin(), all.end());
    const auto operations = static_cast<double>(all.size());
    const auto at = [&all](double share) {
      return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    std::string json = fmt::format(
        "{{\"action\": \"{}\", \"clients\": {}, \"operations\": {}, \"seconds\": {:.6f}, "
        "\"per_second\": {:.1f}, \"p50_us\": {:.1f}, \"p90_us\": {:.1f}, \"p99_us\": {:.1f}, "
        "\"max_us\": {:.1f}, \"client_cpu_us\": {:.2f}, \"server_cpu_us\": {:.2f}, "
        "\"written_bytes\": {:.1f}, \"new_blocks\": {}, \"volumes\": {{",
        command.action, command.clients, all.size(), seconds, operations / seconds, at(.5), at(.9),
        at(.99), all.back(), client.cpu_us / operations, server.cpu_us / operations,
        static_cast<double>(server.written_bytes) / operations, blocks);
    std::string_view separator;
    for (const auto& [name, count] : volumes) {
      json += fmt::format("{}\"{}\": {}", separator, name, count);
      separator = ", ";
    }
    return json + "}}";
  }

  Settings settings_;
  const std::vector<std::string> pages_;
  std::vector<store::Signature> signatures_;  // of the pages
  std::vector<std::string> keys_;             // of the pages; each touched by one client at a time
  StoreManner manner_;
  std::vector<std::unique_ptr<StoreClient>> clients_;
  std::size_t sequence_ = 0;
};

bool Set(std::string_view name, const std::string& value, Settings& settings) {
  const auto number = ParseDecimal(value);
  if (name == "--connector") {
    settings.connector_file = value;
  } else if (name == "--nfs") {
    settings.nfs_url = value;
  } else if (name == "--clients" && number) {
    settings.clients_max = *number;
  } else if (name == "--pages" && number) {
    settings.pages = *number;
  } else if (name == "--page-bytes" && number) {
    settings.page_bytes = *number;
  } else if (name == "--seed" && number) {
    settings.seed = *number;
  } else if (name == "--server-pid" && number) {
    settings.servers.push_back(static_cast<pid_t>(*number));
  } else {
    return false;
  }
  return true;
}

int Main(int count, char** words) {
  Settings settings;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 < count && Set(words[i], words[i + 1], settings)) continue;
    std::cerr << "usage: store_load --connector FILE | --nfs URL [--clients N] [--pages N] "
                 "[--page-bytes N] [--seed N] [--server-pid PID]...\n";
    return 2;
  }
  if (settings.connector_file.empty() == settings.nfs_url.empty()) {
    std::cerr << "store_load: give either --connector or --nfs\n";
    return 2;
  }
  Load load(settings);
  const Status connected = load.Connect();
  if (!connected) {
    std::cerr << "store_load: " << connected.error().text << "\n";
    return 1;
  }
  std::cout << "{\"ready\": true}" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
    const Result<std::string> json = load.Run(line);
    if (!json) {
      std::cerr << "store_load: " << line << ": " << json.error().text << "\n";
      return 1;
    }
    std::cout << *json << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace stele::bench

int main(int count, char** words) { return stele::bench::Main(count, words); }
