// The rows of the table, each with its kind as the first byte of its key:
//
//   u KEY                       a URL that was added, by its seen key
//
//   q HOST 0 PRIORITY NUMBER    one that waits or was taken, in the order of fetching
//
//   h HOST                      how many rows its queue has, and how many it ever had
//
//   p PLACE                     how many pages were added with one path and the same names of
//                               arguments: PathWithNames()
//
//   a PATH                      how many with one path and any arguments: PathWithArguments()
//
//   n NAME                      a note; "next" is the number of the next row
//
// Rows, their counts and the next number change in one write, so that any state on the disk is one
// that was true.
#include "crawl/frontier.h"

#include <fmt/format.h>

#include "crawl/traps.h"
#include "formats/url/url.h"
#include "util/check.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr char kSeenRow = 'u';
constexpr char kQueueRow = 'q';
constexpr char kHostRow = 'h';
constexpr char kQueryRow = 'p';
constexpr char kArgumentsRow = 'a';
constexpr char kNoteRow = 'n';
// What is loaded of a queue where memory has enough heads.
constexpr std::size_t kFewHeads = 4;
// Counts of pages with arguments that need not be looked up.
constexpr std::size_t kQueriesCached = 10'000;
// Behind every row of a queue.
constexpr std::string_view kEndOfRows = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

std::string Key(char kind, std::string_view rest) { return kind + std::string(rest); }

std::string QueuePrefix(std::string_view host) { return Key(kQueueRow, host) + '\0'; }

std::string RowOf(std::uint8_t priority, std::uint64_t number) {
  std::string row(1, static_cast<char>(priority));
  for (int shift = 56; shift >= 0; shift -= 8) {
    row += static_cast<char>((number >> shift) & 0xff);
  }
  return row;
}

std::string HostOf(const Candidate& candidate) {
  const Result<url::Url> parsed = url::Parse(candidate.url);
  return parsed ? std::string(parsed->host()) : std::string();
}

}  // namespace

Result<std::unique_ptr<Frontier>> Frontier::Open(store::BlockTable& table, const Options& options) {
  std::unique_ptr<Frontier> frontier(new Frontier(table, options));
  if (const Status loaded = frontier->Load(); !loaded) return loaded.error();
  return frontier;
}

Status Frontier::Load() {
  Result<std::optional<std::string>> next = Note("next");
  if (!next) return next.error();
  if (*next) {
    ByteReader in(**next);
    next_ = in.Fixed64();
    if (!in.good()) return Error{ErrorCode::kCorrupt, "the frontier's last number is damaged"};
  }
  Status status;
  const Status scanned = table_.Scan(std::string(1, kHostRow), [&](auto key, auto value) {
    ByteReader in(value);
    Queue queue;
    queue.rows = in.Varint();
    queue.ever = in.Varint();
    if (!in.good()) status = Error{ErrorCode::kCorrupt, "a queue of the frontier is damaged"};
    waiting_ += queue.rows;
    if (queue.rows > 0) queues_.emplace(key.substr(1), std::move(queue));
    return status.ok();
  });
  unfinished_ = waiting_;
  return status.ok() ? scanned : status;
}

Result<std::optional<std::string>> Frontier::Get(const std::string& key) {
  if (const auto found = changes_.find(key); found != changes_.end()) return found->second;
  return table_.Get(key);
}

Status Frontier::Write() {
  if (changes_.empty()) return {};
  std::string next;
  PutFixed64(next, next_);
  Put(Key(kNoteRow, "next"), std::move(next));
  Status written = table_.Write(changes_);
  if (written) changes_.clear();
  return written;
}

Status Frontier::WriteIfMany() {
  return changes_.size() < options_.changes_max ? Status() : Write();
}

Status Frontier::Commit() { return Write(); }

void Frontier::Remember(std::string key) {
  if (seen_.size() >= options_.seen_cached_max) {
    seen_before_ = std::move(seen_);
    seen_.clear();
  }
  seen_.insert(std::move(key));
}

Result<bool> Frontier::WasSeen(std::string_view url) { return HasKey(SeenKey(url)); }

Result<bool> Frontier::HasKey(std::string_view seen_key) {
  std::string key = Key(kSeenRow, seen_key);
  if (seen_.contains(key)) return true;
  bool seen = seen_before_.contains(key);
  if (!seen) {
    Result<std::optional<std::string>> row = Get(key);
    if (!row) return row.error();
    seen = row->has_value();
  }
  if (seen) Remember(std::move(key));
  return seen;
}

bool Frontier::WasSeenOfLate(std::string_view url) const {
  const std::string key = Key(kSeenRow, SeenKey(url));
  return seen_.contains(key) || seen_before_.contains(key);
}

void Frontier::MarkSeen(std::string_view url) { AddKey(SeenKey(url)); }

void Frontier::AddKey(std::string_view seen_key) {
  std::string key = Key(kSeenRow, seen_key);
  Put(key, "");
  Remember(std::move(key));
}

Result<Frontier::Queue*> Frontier::QueueOf(const std::string& host) {
  if (const auto found = queues_.find(host); found != queues_.end()) return &found->second;
  // One that was empty may have been in use.
  Result<std::optional<std::string>> row = Get(Key(kHostRow, host));
  if (!row) return row.error();
  Queue queue;
  queue.loaded = kEndOfRows;
  if (*row) {
    ByteReader in(**row);
    in.Varint();
    queue.ever = in.Varint();
  }
  return &queues_.emplace(host, std::move(queue)).first->second;
}

void Frontier::PutQueue(const std::string& host, const Queue& queue) {
  std::string value;
  PutVarint(value, queue.rows);
  PutVarint(value, queue.ever);
  Put(Key(kHostRow, host), std::move(value));
}

Result<std::vector<Frontier::QueryCount>> Frontier::QueryCountsOf(const Candidate& candidate) {
  std::vector<QueryCount> counts;
  const bool has_arguments = candidate.url.find('?') != std::string::npos;
  if (options_.query_urls_max == 0 || !has_arguments) return counts;
  if (candidate.seed || !candidate.is_page()) return counts;
  const Result<url::Url> url = url::Parse(candidate.url);
  if (!url || !url->has_query()) return counts;
  counts.push_back({Key(kQueryRow, PathWithNames(*url)), 1, Added::kTooManyQueries});
  counts.push_back({Key(kArgumentsRow, PathWithArguments(*url)), kCombinationsPerPath,
                    Added::kTooManyCombinations});
  for (QueryCount& count : counts) {
    const Result<std::uint64_t> urls = QueryUrls(count.row);
    if (!urls) return urls.error();
    count.urls = *urls;
  }
  return counts;
}

Result<std::uint64_t> Frontier::QueryUrls(const std::string& row) {
  if (const auto found = query_urls_.find(row); found != query_urls_.end()) return found->second;
  const Result<std::optional<std::string>> value = Get(row);
  if (!value) return value.error();
  return *value ? ByteReader(**value).Varint() : 0;
}

void Frontier::PutQueryUrls(const std::string& row, std::uint64_t urls) {
  if (query_urls_.size() >= kQueriesCached) query_urls_.clear();
  query_urls_[row] = urls;
  std::string value;
  PutVarint(value, urls);
  Put(row, std::move(value));
}

void Frontier::AddHead(Queue& queue, const std::string& row, const Candidate& candidate) {
  queue.heads.emplace(row, candidate);
  ++heads_;
  TrimHeads(queue);
  if (heads_ > options_.all_heads_max) DropHeads(queue);
}

void Frontier::TrimHeads(Queue& queue) {
  if (queue.heads.size() <= 2 * options_.heads_max) return;
  // The last ones go back to the disk.
  while (queue.heads.size() > options_.heads_max) {
    queue.heads.erase(std::prev(queue.heads.end()));
    --heads_;
  }
  queue.loaded = queue.heads.rbegin()->first;
}

void Frontier::AddRow(const std::string& host, Queue& queue, const Candidate& candidate) {
  const std::string row = RowOf(PriorityOf(candidate), next_++);
  Put(QueuePrefix(host) + row, EncodeCandidate(candidate));
  ++queue.rows;
  ++waiting_;
  ++unfinished_;
  PutQueue(host, queue);
  queue.first_is_page.reset();
  if (row <= queue.loaded) AddHead(queue, row, candidate);
}

Result<Frontier::Added> Frontier::Add(const Candidate& candidate) {
  const std::string seen_key = SeenKeyOf(candidate);
  Result<bool> seen = HasKey(seen_key);
  if (!seen) return seen.error();
  if (*seen) return Added::kSeen;
  const Result<std::vector<QueryCount>> counts = QueryCountsOf(candidate);
  if (!counts) return counts.error();
  for (const QueryCount& count : *counts) {
    if (count.urls / count.share >= options_.query_urls_max) return count.refusal;
  }
  const std::string host = HostOf(candidate);
  Result<Queue*> queue = QueueOf(host);
  if (!queue) return queue.error();
  if (options_.host_urls_max > 0 && (*queue)->ever >= options_.host_urls_max) {
    if ((*queue)->rows == 0) queues_.erase(host);
    return Added::kOverBudget;
  }
  for (const QueryCount& count : *counts) PutQueryUrls(count.row, count.urls + 1);
  AddKey(seen_key);
  ++(*queue)->ever;
  AddRow(host, **queue, candidate);
  if (const Status written = WriteIfMany(); !written) return written.error();
  return Added::kNew;
}

Status Frontier::AddAgain(const Candidate& candidate) {
  const std::string host = HostOf(candidate);
  Result<Queue*> queue = QueueOf(host);
  if (!queue) return queue.error();
  AddRow(host, **queue, candidate);
  return WriteIfMany();
}

Status Frontier::LoadHeads(const std::string& host, Queue& queue) {
  const std::string prefix = QueuePrefix(host);
  Status status;
  const auto take = [&](std::string_view row, std::string_view value) {
    Result<Candidate> candidate = DecodeCandidate(value);
    if (!candidate) status = candidate.error();
    if (candidate && queue.heads.emplace(row, *std::move(candidate)).second) ++heads_;
    return status.ok();
  };
  const std::size_t heads_max = heads_ < options_.all_heads_max ? options_.heads_max : kFewHeads;
  std::string bound(kEndOfRows);
  std::string last;
  const Status scanned = table_.ScanAfter(prefix, prefix + queue.loaded, [&](auto key, auto value) {
    if (queue.heads.size() >= heads_max) bound = last;
    if (bound == last) return false;
    last = key.substr(prefix.size());
    const bool is_gone = queue.taken.contains(last) || changes_.contains(key);
    return is_gone || take(last, value);
  });
  if (!scanned) return scanned;
  // What is not written yet.
  for (auto change = changes_.upper_bound(prefix + queue.loaded);
       change != changes_.end() && change->first.starts_with(prefix); ++change) {
    const std::string row = change->first.substr(prefix.size());
    if (row > bound || !status) break;
    if (change->second && !queue.taken.contains(row)) take(row, *change->second);
  }
  queue.loaded = bound;
  TrimHeads(queue);
  return status;
}

void Frontier::DropHeads(Queue& queue) {
  if (!queue.heads.empty()) queue.first_is_page = queue.heads.begin()->second.is_page();
  heads_ -= queue.heads.size();
  queue.heads.clear();
  queue.loaded.clear();
}

Result<std::optional<bool>> Frontier::FirstIsPage(const std::string& host) {
  const auto found = queues_.find(host);
  if (found == queues_.end() || found->second.waiting() == 0) return std::optional<bool>();
  Queue& queue = found->second;
  if (queue.heads.empty() && queue.first_is_page) return queue.first_is_page;
  if (const Status loaded = NeedHeads(host, queue); !loaded) return loaded.error();
  const bool is_page = queue.heads.begin()->second.is_page();
  if (heads_ > options_.all_heads_max) DropHeads(queue);
  return std::optional(is_page);
}

Status Frontier::NeedHeads(const std::string& host, Queue& queue) {
  if (!queue.heads.empty()) return {};
  if (const Status loaded = LoadHeads(host, queue); !loaded) return loaded;
  if (!queue.heads.empty()) return {};
  return Error{ErrorCode::kCorrupt, fmt::format("the queue of {} has too few rows", host)};
}

Result<std::optional<Frontier::Taken>> Frontier::Take(const std::string& host) {
  const auto found = queues_.find(host);
  if (found == queues_.end() || found->second.waiting() == 0) return std::optional<Taken>();
  Queue& queue = found->second;
  if (const Status loaded = NeedHeads(host, queue); !loaded) return loaded.error();
  auto head = queue.heads.begin();
  Taken taken{std::move(head->second), host, head->first};
  queue.heads.erase(head);
  --heads_;
  queue.taken.insert(taken.row);
  queue.first_is_page.reset();
  --waiting_;
  if (heads_ > options_.all_heads_max) DropHeads(queue);
  return std::optional(std::move(taken));
}

void Frontier::Return(Taken taken) {
  Queue& queue = queues_.at(taken.host);
  Check(queue.taken.erase(taken.row) == 1);
  ++waiting_;
  queue.first_is_page.reset();
  if (taken.row <= queue.loaded) AddHead(queue, taken.row, taken.candidate);
}

void Frontier::RemoveRow(const Taken& taken, Queue& queue) {
  Check(queue.taken.erase(taken.row) == 1);
  changes_[QueuePrefix(taken.host) + taken.row] = std::nullopt;
  --queue.rows;
  --unfinished_;
  PutQueue(taken.host, queue);
}

void Frontier::Finish(const Taken& taken) {
  Queue& queue = queues_.at(taken.host);
  RemoveRow(taken, queue);
  if (queue.rows > 0) return;
  DropHeads(queue);
  queues_.erase(taken.host);
}

void Frontier::Retry(const Taken& taken, Why why) {
  Queue& queue = queues_.at(taken.host);
  RemoveRow(taken, queue);
  Candidate again = taken.candidate;
  ++(why == Why::kFailed ? again.tries : again.waits);
  AddRow(taken.host, queue, again);
}

void Frontier::SetNote(std::string_view name, std::string value) {
  Put(Key(kNoteRow, name), std::move(value));
}

Result<std::optional<std::string>> Frontier::Note(std::string_view name) {
  return Get(Key(kNoteRow, name));
}

Status Frontier::VisitNotes(
    std::string_view prefix,
    const std::function<void(std::string_view name, std::string_view value)>& visit) const {
  const std::string begin = Key(kNoteRow, prefix);
  return table_.Scan(begin, [&](auto key, auto value) {
    visit(key.substr(begin.size()), value);
    return true;
  });
}

Status Frontier::VisitWaiting(const std::function<void(const Candidate& candidate)>& visit) const {
  Check(changes_.empty());
  Status status;
  const Status scanned = table_.Scan(std::string(1, kQueueRow), [&](auto, auto value) {
    const Result<Candidate> candidate = DecodeCandidate(value);
    if (!candidate) status = candidate.error();
    if (candidate) visit(*candidate);
    return status.ok();
  });
  return status.ok() ? scanned : status;
}

void Frontier::VisitHosts(
    const std::function<void(const std::string& host, std::uint64_t urls)>& visit) const {
  for (const auto& [host, queue] : queues_) {
    if (queue.waiting() > 0) visit(host, queue.waiting());
  }
}

}  // namespace stele::crawl
