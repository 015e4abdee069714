// Fills one contender of bench/catalog_run with captures, or asks one. Prints JSON, a line for each
// step.
//
//   catalog_load list                                  which contenders were built in
//   catalog_load fill NAME DIRECTORY CAPTURES URLS     URLS: 0, or see Crawls
//   catalog_load ask NAME DIRECTORY CAPTURES URLS SECONDS KIND:COUNT...
//
// A kind is asked COUNT questions, the same for all contenders, and again and again until SECONDS
// have passed; with 0 seconds, and when it takes very long, once. The best time counts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "catalog_load/contender.h"
#include "formats/url/surt.h"
#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::bench {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

constexpr std::size_t kGroupRows = 10'000;  // that become durable together
constexpr double kOnceSeconds = 2;          // what takes so long is not asked again
constexpr std::int64_t kDayMs = 86'400'000;

const std::map<std::string, Make>& Contenders() {
  static const std::map<std::string, Make> contenders = {
      {"nothing", MakeNothing},
      {"stele", MakeStele},
      {"stele-both-digests", MakeSteleBothDigests},
      {"stele-scan", MakeSteleScan},
      {"rocksdb-keys", MakeRocksKeys},
      {"rocksdb-lines", MakeRocksLines},
#ifdef STELE_HAS_BERKELEY_DB
      {"berkeley", MakeBerkeley},
#endif
#ifdef STELE_HAS_SQLITE
      {"sqlite", MakeSqlite},
#endif
      {"cdx", MakeCdx},
      {"zipnum", MakeZipNum},
  };
  return contenders;
}

double Seconds(steady_clock::duration time) { return duration<double>(time).count(); }

std::uint64_t PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes * 1024;
}

std::uint64_t BytesBelow(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void Fill(Make make, const std::string& directory, Crawls& crawls) {
  std::filesystem::create_directories(directory);
  const std::unique_ptr<Contender> contender = make(directory, true);
  std::vector<Row> rows;
  steady_clock::duration adding{};
  steady_clock::duration longest{};
  std::uint64_t count = 0;
  for (;;) {
    crawls.Next(kGroupRows, rows);
    if (rows.empty()) break;
    const auto begin = steady_clock::now();
    contender->Add(rows);
    const auto took = steady_clock::now() - begin;
    adding += took;
    longest = std::max(longest, took);
    count += rows.size();
  }
  const auto begin = steady_clock::now();
  contender->Finish();
  const double finishing = Seconds(steady_clock::now() - begin);
  std::string sizes;
  for (const auto& [name, bytes] : contender->Sizes()) {
    sizes += fmt::format(R"(, "{}_bytes": {})", name, bytes);
  }
  fmt::print(R"({{"rows": {}, "add_s": {:.3f}, "longest_s": {:.3f}, "finish_s": {:.3f}, )"
             R"("bytes": {}, "peak_bytes": {}{}}})"
             "\n",
             count, Seconds(adding), Seconds(longest), finishing, BytesBelow(directory),
             PeakMemoryBytes(), sizes);
}

// Counts and sums up what was found, in no order.
struct Answer {
  std::uint64_t found = 0;
  std::uint64_t sum = 0;
};

// Question number `i` of a kind.
using Ask = std::function<void(std::uint64_t i, Answer& answer)>;

class Questions {
 public:
  Questions(Contender& contender, const Crawls& crawls) : contender_(contender), crawls_(crawls) {}

  void Run(const std::string& kind, std::uint64_t count, double seconds) {
    const Ask ask = Kind(kind);
    Answer answer;
    auto begin = steady_clock::now();
    for (std::uint64_t i = 0; i < count; ++i) ask(i, answer);
    double best = Seconds(steady_clock::now() - begin);
    const auto first = begin;
    while (seconds > 0 && best < kOnceSeconds) {
      Answer again;
      begin = steady_clock::now();
      for (std::uint64_t i = 0; i < count; ++i) ask(i, again);
      best = std::min(best, Seconds(steady_clock::now() - begin));
      Require(again.sum == answer.sum, "another answer to the same questions");
      if (Seconds(steady_clock::now() - first) >= seconds) break;
    }
    fmt::print(R"({{"kind": "{}", "count": {}, "found": {}, "sum": "{:016x}", "seconds": {:.9f}, )"
               R"("peak_bytes": {}}})"
               "\n",
               kind, count, answer.found, answer.sum, best, PeakMemoryBytes());
    std::fflush(stdout);
  }

 private:
  std::string Key(std::uint64_t i) const {
    return url::SurtKey(crawls_.Url(Mix(i, 50) % crawls_.urls()));
  }
  std::string OftenKey() const { return url::SurtKey(crawls_.OftenUrl(0)); }
  // The whole host of a URL: "org,example)/".
  std::string HostPrefix(std::uint64_t i) const {
    const std::string key = Key(i);
    return key.substr(0, key.find(')') + 2);
  }
  Timestamp Time(std::uint64_t i) const {
    const auto span =
        static_cast<std::uint64_t>(crawls_.end().milliseconds - Crawls::begin().milliseconds);
    return {Crawls::begin().milliseconds + static_cast<std::int64_t>(Mix(i, 51) % span)};
  }
  Timestamp Middle() const {
    return {(Crawls::begin().milliseconds + crawls_.end().milliseconds) / 2};
  }
  static Timestamp Later(Timestamp time, std::int64_t milliseconds) {
    return {time.milliseconds + milliseconds};
  }
  static Take Into(Answer& answer) {
    return [&answer](std::string_view key, Timestamp time) {
      ++answer.found;
      answer.sum += Mix(ChecksumOf(key), static_cast<std::uint64_t>(time.milliseconds));
    };
  }

  Ask Kind(const std::string& kind) {
    Contender& c = contender_;
    const std::map<std::string, Ask> kinds = {
        {"nearest", [&](auto i, auto& a) { c.Nearest(Key(i), Time(i), Into(a)); }},
        {"nearest-line",
         [&](auto i, auto& a) { a.found += c.NearestLine(Key(i), Time(i)) > 0 ? 1 : 0; }},
        {"nearest-often", [&](auto i, auto& a) { c.Nearest(OftenKey(), Time(i), Into(a)); }},
        {"span",
         [&](auto i, auto& a) { c.Span(Key(i), Time(i), Later(Time(i), 700 * kDayMs), Into(a)); }},
        {"span-often",
         [&](auto i, auto& a) { c.Span(OftenKey(), Time(i), Later(Time(i), kDayMs), Into(a)); }},
        {"prefix", [&](auto i, auto& a) { c.Prefix(HostPrefix(i), Into(a)); }},
        {"alive-host", [&](auto i, auto& a) { c.Alive(HostPrefix(i), Time(i), Time(i), Into(a)); }},
        {"acquired-in",
         [&](auto i, auto& a) { c.AcquiredIn(Time(i), Later(Time(i), kDayMs / 4), Into(a)); }},
        {"alive-at", [&](auto, auto& a) { c.Alive("", Middle(), Middle(), Into(a)); }},
        {"alive-during",
         [&](auto, auto& a) { c.Alive("", Middle(), Later(Middle(), kDayMs), Into(a)); }},
    };
    const auto found = kinds.find(kind);
    Require(found != kinds.end(), "no such kind of question: " + kind);
    return found->second;
  }

  Contender& contender_;
  const Crawls& crawls_;
};

int Main(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "list") {
    for (const auto& [name, make] : Contenders()) fmt::print("{}\n", name);
    return 0;
  }
  const bool fill = words.size() == 5 && words[0] == "fill";
  Require(fill || (words.size() >= 7 && words[0] == "ask"), "list, fill or ask; see the source");
  const auto contender = Contenders().find(words[1]);
  Require(contender != Contenders().end(), "no such contender: " + words[1]);
  Crawls crawls(std::stoull(words[3]), std::stoull(words[4]));
  if (fill) {
    Fill(contender->second, words[2], crawls);
    return 0;
  }
  const std::unique_ptr<Contender> asked = contender->second(words[2], false);
  Questions questions(*asked, crawls);
  for (std::size_t i = 6; i < words.size(); ++i) {
    const auto parts = Split(words[i], ':');
    questions.Run(std::string(parts[0]), std::stoull(std::string(parts[1])), std::stod(words[5]));
  }
  return 0;
}

}  // namespace
}  // namespace stele::bench

int main(int argc, char** argv) {
  return stele::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
