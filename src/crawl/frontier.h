#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crawl/candidate.h"
#include "store/container_table.h"
#include "util/result.h"

namespace stele::crawl {

// What a crawl has still to fetch, and everything it ever came to: a queue for each host, in a
// table on the disk. Memory holds the first few of the queues that are being worked on, whatever
// their length. What was taken stays in the table until it is finished, so that a crawl that is
// killed finds it again. Not thread-safe. docs/crawling.md, "The frontier".
class Frontier {
 public:
  struct Options {
    std::size_t heads_max = 64;             // of one queue in memory
    std::size_t all_heads_max = 50'000;     // of all queues; above it, none of those that come
    std::size_t seen_cached_max = 100'000;  // that need not be looked up
    std::size_t changes_max = 8'192;        // written at once
    std::uint64_t host_urls_max = 0;        // of one host, ever; 0: any number
    std::uint64_t query_urls_max = 0;       // pages of one PathWithNames(), likewise
  };
  // Pages of one PathWithArguments(), whatever the names: so many times `query_urls_max`.
  static constexpr std::uint64_t kCombinationsPerPath = 4;

  // Goes on with what is in `table`, which must be durable; borrows it for life. Errors: kCorrupt,
  // kIo.
  static Result<std::unique_ptr<Frontier>> Open(store::BlockTable& table, const Options& options);

  enum class Added { kNew, kSeen, kOverBudget, kTooManyQueries, kTooManyCombinations };
  // Queues it, unless something with its key was ever added. Seeds are never too many queries. May
  // become durable before Commit().
  Result<Added> Add(const Candidate& candidate);
  // Queues it although it was added before.
  Status AddAgain(const Candidate& candidate);
  // What is fetched beside the queues counts as seen from now on.
  void MarkSeen(std::string_view url);
  Result<bool> WasSeen(std::string_view url);
  // True only where it was, and memory knows; costs little.
  bool WasSeenOfLate(std::string_view url) const;

  // Something that was taken from a queue.
  struct Taken {
    Candidate candidate;
    std::string host;
    std::string row;  // its place in the queue
  };
  // The first one that waits for this host; nothing when there is none.
  Result<std::optional<Taken>> Take(const std::string& host);
  // Takes it back, to its old place.
  void Return(Taken taken);
  // It is over. Requires: what was captured is durable, and what it led to was added.
  void Finish(const Taken& taken);
  // It is to be tried once more, after all others of its host: it failed, or its host asked for
  // patience.
  enum class Why { kFailed, kPatience };
  void Retry(const Taken& taken, Why why = Why::kFailed);

  // Small things that become durable together with the rest.
  void SetNote(std::string_view name, std::string value);
  Result<std::optional<std::string>> Note(std::string_view name);
  // All notes whose names begin with `prefix`, without it, as they were at the last Commit().
  Status VisitNotes(
      std::string_view prefix,
      const std::function<void(std::string_view name, std::string_view value)>& visit) const;

  // Makes everything durable. After an error nothing is known about what came since the last one.
  Status Commit();

  // What the first that waits for this host is.
  Result<std::optional<bool>> FirstIsPage(const std::string& host);
  // Something waits for this host, or was taken and is not finished.
  bool HasRows(const std::string& host) const { return queues_.contains(host); }
  std::uint64_t waiting() const { return waiting_; }
  std::uint64_t unfinished() const { return unfinished_; }  // with those that were taken
  std::uint64_t hosts_waiting() const { return queues_.size(); }
  // Hosts for which something waits; `visit` must not change the frontier.
  void VisitHosts(
      const std::function<void(const std::string& host, std::uint64_t urls)>& visit) const;
  // All that waits. Requires: nothing changed since the last Commit(). Errors: kCorrupt, kIo.
  Status VisitWaiting(const std::function<void(const Candidate& candidate)>& visit) const;
  std::size_t heads() const { return heads_; }  // in memory

 private:
  struct Queue {
    std::map<std::string, Candidate> heads;  // by row
    std::string loaded;                      // all rows up to this one are in `heads` or `taken`
    std::optional<bool> first_is_page;       // where `heads` is empty; nothing: not known
    std::set<std::string> taken;
    std::uint64_t rows = 0;  // with those that were taken
    std::uint64_t ever = 0;  // added

    std::uint64_t waiting() const { return rows - taken.size(); }
  };

  Frontier(store::BlockTable& table, const Options& options) : table_(table), options_(options) {}
  Status Load();
  Result<std::optional<std::string>> Get(const std::string& key);
  void Put(std::string key, std::string value) { changes_[std::move(key)] = std::move(value); }
  Result<bool> HasKey(std::string_view seen_key);
  void AddKey(std::string_view seen_key);
  Status Write();
  Status WriteIfMany();
  Result<Queue*> QueueOf(const std::string& host);
  // Requires: something waits. It is in memory then.
  Status NeedHeads(const std::string& host, Queue& queue);
  Status LoadHeads(const std::string& host, Queue& queue);
  void AddRow(const std::string& host, Queue& queue, const Candidate& candidate);
  void AddHead(Queue& queue, const std::string& row, const Candidate& candidate);
  void TrimHeads(Queue& queue);
  // Forgets the heads, but for what the first one is.
  void DropHeads(Queue& queue);
  void RemoveRow(const Taken& taken, Queue& queue);
  void PutQueue(const std::string& host, const Queue& queue);
  // Pages with arguments that were added, by a row that counts them.
  struct QueryCount {
    std::string row;
    std::uint64_t share = 1;                 // times `query_urls_max` it may count
    Added refusal = Added::kTooManyQueries;  // of more
    std::uint64_t urls = 0;
  };
  // Those that count it; none where it is no such page.
  Result<std::vector<QueryCount>> QueryCountsOf(const Candidate& candidate);
  Result<std::uint64_t> QueryUrls(const std::string& row);
  void PutQueryUrls(const std::string& row, std::uint64_t urls);
  void Remember(std::string key);

  store::BlockTable& table_;
  const Options options_;
  store::BlockTable::Changes changes_;
  std::unordered_map<std::string, Queue> queues_;              // those with rows
  std::unordered_set<std::string> seen_;                       // of late
  std::unordered_set<std::string> seen_before_;                // somewhat earlier
  std::unordered_map<std::string, std::uint64_t> query_urls_;  // of late, by row
  std::uint64_t next_ = 0;                                     // the number of the next row
  std::uint64_t waiting_ = 0;
  std::uint64_t unfinished_ = 0;
  std::size_t heads_ = 0;
};

}  // namespace stele::crawl
