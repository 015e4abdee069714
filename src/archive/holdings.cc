#include "archive/holdings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "archive/container_rows.h"
#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/check.h"

namespace stele::archive {
namespace {

Error Bad(const LedgerEvent& event, std::string_view what) {
  return Error{ErrorCode::kCorrupt, fmt::format("the ledger's event {} of {}: {}", event.what,
                                                FormatIso(event.time), what)};
}

std::string FormatBatch(const Container::Batch& batch) {
  return fmt::format("{} {} {}", batch.batch, batch.base, batch.count);
}

// "200405 120 17"
std::optional<Container::Batch> ParseBatch(std::string_view text) {
  Container::Batch batch;
  std::uint32_t* const numbers[] = {&batch.batch, &batch.base, &batch.count};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::uint32_t* number : numbers) {
    if (number != numbers[0]) {
      if (at == end || *at != ' ') return std::nullopt;
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, *number);
    if (error != std::errc()) return std::nullopt;
    at = next;
  }
  if (at != end || batch.count > std::numeric_limits<std::uint32_t>::max() - batch.base) {
    return std::nullopt;
  }
  return batch;
}

struct NumberField {
  std::string_view name;
  std::uint64_t Container::*member;
};
constexpr NumberField kNumbers[] = {
    {"bytes", &Container::bytes},       {"records", &Container::records},
    {"captures", &Container::captures}, {"losses", &Container::losses},
    {"unlisted", &Container::unlisted},
};

constexpr std::string_view kOpenEvent = "container-open";
constexpr std::string_view kDependencyEvent = "dependency";

Result<std::vector<catalog::CaptureId>> CapturesOf(const LedgerEvent& event) {
  std::vector<catalog::CaptureId> ids;
  for (const std::string_view text : event.FindAll("capture")) {
    const std::optional<catalog::CaptureId> id = ParseCaptureId(text);
    if (!id) return Bad(event, fmt::format("'{}' is no capture", text));
    ids.push_back(*id);
  }
  return ids;
}

Result<std::uint32_t> SmallNumber(const LedgerEvent& event, std::string_view name) {
  Result<std::uint64_t> number = event.Number(name);
  if (!number) return Bad(event, number.error().text);
  if (*number > std::numeric_limits<std::uint32_t>::max()) return Bad(event, "a number too large");
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::optional<catalog::CaptureId> ParseCaptureId(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto batch = ParseDecimal(text.substr(0, slash));
  const auto serial = ParseDecimal(text.substr(slash + 1));
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (!batch || !serial || *batch > kMax || *serial > kMax) return std::nullopt;
  return catalog::CaptureId{static_cast<std::uint32_t>(*batch),
                            static_cast<std::uint32_t>(*serial)};
}

std::string FormatCaptureId(const catalog::CaptureId& id) {
  return fmt::format("{}/{}", id.batch, id.serial);
}

void Container::Place(catalog::Capture& row, std::uint64_t ordinal) const {
  for (const Batch& batch : batches) {
    if (batch.batch == row.id.batch) row.id.serial += batch.base;
  }
  row.run = run;
  if (ordinal < ids.size()) {
    row.id = ids[ordinal];
    row.run = id_runs[ordinal];
  }
  row.place.container = number;
}

bool Container::Has(std::uint32_t batch) const {
  return std::any_of(batches.begin(), batches.end(),
                     [&](const Batch& part) { return part.batch == batch; }) ||
         std::any_of(ids.begin(), ids.end(),
                     [&](const catalog::CaptureId& id) { return id.batch == batch; });
}

void Container::Describe(const ContainerSummary& summary) {
  records = summary.records;
  captures = summary.captures();
  losses = summary.losses.size();
  unlisted = summary.unlisted;
}

LedgerEvent Container::Event() const {
  LedgerEvent event;
  event.what = "container";
  event.time = time;
  event.Add("container", number);
  event.Add("run", run);
  event.Add("volume", volume);
  if (!path.empty()) event.Add("path", path);
  event.Add("name", name);
  event.Add("sha256", sha256);
  if (!origin_sha256.empty()) event.Add("origin-sha256", origin_sha256);
  for (const std::string& part : part_sha256s) event.Add("part-sha256", part);
  for (const LeftOutPart& part : left_out) event.Add("left-out", part.Text());
  for (const NumberField& field : kNumbers) event.Add(field.name, this->*(field.member));
  for (const Batch& batch : batches) {
    event.Add("batch", FormatBatch(batch));
  }
  for (const catalog::CaptureId& id : ids) event.Add("capture", FormatCaptureId(id));
  return event;
}

LedgerEvent Container::OpenEvent() const {
  Check(batches.size() == 1);
  LedgerEvent event;
  event.what = kOpenEvent;
  event.time = time;
  event.Add("container", number);
  event.Add("run", run);
  event.Add("volume", volume);
  event.Add("name", name);
  event.Add("batch", FormatBatch(batches.front()));
  return event;
}

Result<Container> Container::FromEvent(const LedgerEvent& event, std::uint64_t ledger_end) {
  Container container;
  Result<std::uint32_t> number = SmallNumber(event, "container");
  if (!number) return number.error();
  Result<std::uint32_t> run = SmallNumber(event, "run");
  if (!run) return run.error();
  container.number = *number;
  container.run = *run;
  container.volume = event.Find("volume");
  container.path = event.Find("path");
  container.name = event.Find("name");
  container.sha256 = event.Find("sha256");
  container.origin_sha256 = event.Find("origin-sha256");
  for (const std::string_view part : event.FindAll("part-sha256")) {
    container.part_sha256s.emplace_back(part);
  }
  for (const std::string_view text : event.FindAll("left-out")) {
    const std::optional<LeftOutPart> part = LeftOutPart::Parse(text);
    if (!part) return Bad(event, fmt::format("'{}' is no digest and name", text));
    container.left_out.push_back(*part);
  }
  if (container.number == 0 || container.volume.empty() || container.name.empty()) {
    return Bad(event, "a container without number, volume or name");
  }
  for (const NumberField& field : kNumbers) {
    if (event.what == kOpenEvent) break;  // nobody knows them yet
    Result<std::uint64_t> value = event.Number(field.name);
    if (!value) return Bad(event, value.error().text);
    container.*(field.member) = *value;
  }
  for (const std::string_view text : event.FindAll("batch")) {
    const std::optional<Batch> batch = ParseBatch(text);
    if (!batch) return Bad(event, fmt::format("batch '{}' is no batch, base and count", text));
    container.batches.push_back(*batch);
  }
  Result<std::vector<catalog::CaptureId>> ids = CapturesOf(event);
  if (!ids) return ids.error();
  container.ids = *std::move(ids);
  container.time = event.time;
  container.ledger_end = ledger_end;
  return container;
}

Status Holdings::Apply(const LedgerEvent& event, std::uint64_t end) {
  Status applied;
  if (event.what == "container") {
    applied = ApplyContainer(event, end);
  } else if (event.what == kOpenEvent) {
    applied = ApplyOpen(event, end);
  } else if (event.what == "run-begin" || event.what == "run-end") {
    applied = ApplyRun(event);
  } else if (event.what == "purge") {
    applied = ApplyPurge(event, end);
  } else if (event.what == "removal") {
    applied = ApplyRemoval(event, end);
  } else if (event.what == "hold" || event.what == "hold-end") {
    applied = ApplyHold(event);
  } else if (event.what == "move-begin" || event.what == "move" || event.what == "move-undone") {
    applied = ApplyMove(event);
  } else if (event.what == "released") {
    departures_.erase(std::string(event.Find("operation")));
  } else if (event.what == kDependencyEvent) {
    applied = ApplyDependency(event);
  } else {
    applied = Bad(event, "this version of Stele does not know what it means; use a newer one");
  }
  if (applied) ledger_end_ = end;
  return applied;
}

Status Holdings::ApplyContainer(const LedgerEvent& event, std::uint64_t end) {
  Result<Container> container = Container::FromEvent(event, end);
  if (!container) return container.error();
  const auto run = runs_.find(container->run);
  if (run == runs_.end()) return Bad(event, "its run was never begun");
  if (containers_.contains(container->number)) {
    return Bad(event, fmt::format("container {} is there twice", container->number));
  }
  if (const Status taken = TakeSerials(event, *container); !taken) return taken;
  for (const catalog::CaptureId& id : container->ids) {
    const Brought* brought = FindBrought(id);
    if (brought == nullptr) {
      return Bad(event, fmt::format("capture {} was never brought", FormatCaptureId(id)));
    }
    container->id_runs.push_back(brought->run);
    new_places_[id] = container->number;
  }
  last_container_ = std::max(last_container_, container->number);
  ++run->second.containers;
  if (container->ids.empty()) run->second.captures += container->captures;
  by_sha256_.emplace(container->sha256, container->number);
  // What is left of a container is not all of the file that it was made from.
  if (container->ids.empty() && !container->origin_sha256.empty()) {
    by_sha256_.insert_or_assign(container->origin_sha256, container->number);
  }
  for (const std::string& part : container->part_sha256s) {
    by_sha256_.emplace(part, container->number);
  }
  containers_.emplace(container->number, std::move(*container));
  return {};
}

Status Holdings::TakeSerials(const LedgerEvent& event, const Container& container) {
  if (const auto open = open_containers_.find(container.number); open != open_containers_.end()) {
    const Container::Batch& had = open->second.batches.front();
    std::uint32_t used = 0;
    for (const Container::Batch& batch : container.batches) {
      if (batch.batch != had.batch || batch.base != had.base || batch.count > had.count) {
        return Bad(event, "it has other serials than when it was opened");
      }
      used = batch.count;
    }
    Close(open->second, used);
    return {};
  }
  for (const Container::Batch& batch : container.batches) {
    std::uint32_t& next = next_serials_[batch.batch];
    if (batch.base < next) return Bad(event, "its serials were given before");
    next = batch.base + batch.count;
    brought_[{batch.batch, batch.base}] = {container.number, container.run};
  }
  return {};
}

void Holdings::Close(const Container& open, std::uint32_t used) {
  const Container::Batch& had = open.batches.front();
  std::uint32_t& next = next_serials_[had.batch];
  if (next == had.base + had.count) next = had.base + used;
  open_containers_.erase(open_containers_.find(open.number));
}

Status Holdings::ApplyOpen(const LedgerEvent& event, std::uint64_t end) {
  Result<Container> container = Container::FromEvent(event, end);
  if (!container) return container.error();
  if (!runs_.contains(container->run)) return Bad(event, "its run was never begun");
  if (containers_.contains(container->number) || open_containers_.contains(container->number) ||
      container->batches.size() != 1) {
    return Bad(event, "it has a number that was given before, or not one batch");
  }
  if (const Status taken = TakeSerials(event, *container); !taken) return taken;
  last_container_ = std::max(last_container_, container->number);
  open_containers_.emplace(container->number, *std::move(container));
  return {};
}

Status Holdings::ApplyRun(const LedgerEvent& event) {
  Result<std::uint32_t> number = SmallNumber(event, "run");
  if (!number) return number.error();
  if (event.what == "run-begin") {
    Run run;
    run.number = *number;
    run.kind = event.Find("kind");
    run.note = event.Find("note");
    run.begin = event.time;
    if (!runs_.emplace(run.number, std::move(run)).second) return Bad(event, "it was begun before");
    return {};
  }
  const auto run = runs_.find(*number);
  if (run == runs_.end()) return Bad(event, "it was never begun");
  run->second.end = event.time;
  return {};
}

Status Holdings::ApplyPurge(const LedgerEvent& event, std::uint64_t end) {
  Result<std::uint32_t> number = SmallNumber(event, "container");
  if (!number) return number.error();
  if (const Container* open = FindOpen(*number)) {
    Close(*open, 0);
    purged_.insert(*number);
    return {};
  }
  const auto container = containers_.find(*number);
  if (container == containers_.end()) return Bad(event, "there is no such container");
  for (const std::string_view text : event.FindAll(kTombstoneField)) {
    const std::optional<Tombstone> tombstone = ParseTombstone(text);
    if (!tombstone) return Bad(event, fmt::format("'{}' is no tombstone", text));
    tombstones_.insert(*tombstone);
  }
  purge_end_ = end;
  for (auto entry = by_sha256_.begin(); entry != by_sha256_.end();) {
    if (entry->second == *number) purged_sha256s_.insert(entry->first);
    entry = entry->second == *number ? by_sha256_.erase(entry) : std::next(entry);
  }
  Depart(container->second);
  containers_.erase(container);
  moves_.erase(*number);
  purged_.insert(*number);
  return {};
}

Status Holdings::ApplyMove(const LedgerEvent& event) {
  Result<std::uint32_t> number = SmallNumber(event, "container");
  if (!number) return number.error();
  const auto container = containers_.find(*number);
  if (container == containers_.end()) return Bad(event, "there is no such container");
  if (event.what == "move-undone") {
    moves_.erase(*number);
    return {};
  }
  ContainerMove move{*number, std::string(event.Find("volume")),
                     std::string(event.Find("operation"))};
  if (move.volume.empty()) return Bad(event, "a move without a volume");
  if (event.what == "move-begin") {
    moves_.insert_or_assign(*number, std::move(move));
    return {};
  }
  Depart(container->second);
  moves_.erase(*number);
  container->second.volume = std::move(move.volume);
  container->second.key = event.Find("key");
  container->second.operation = std::move(move.operation);
  return {};
}

void Holdings::Depart(const Container& container) {
  if (container.key.empty()) return;
  departures_.insert_or_assign(container.operation, Departure{container.volume, container.key});
}

Status Holdings::ApplyRemoval(const LedgerEvent& event, std::uint64_t end) {
  Result<std::uint32_t> number = SmallNumber(event, "removal");
  if (!number) return number.error();
  Result<std::vector<catalog::CaptureId>> captures = CapturesOf(event);
  if (!captures) return captures.error();
  Removal removal{.number = *number,
                  .reason = std::string(event.Find("reason")),
                  .note = std::string(event.Find("note")),
                  .time = event.time,
                  .captures = *std::move(captures),
                  .ledger_end = end};
  const auto [added, is_new] = removals_.emplace(*number, std::move(removal));
  if (!is_new) return Bad(event, "there was one with this number before");
  removed_.insert(added->second.captures.begin(), added->second.captures.end());
  return {};
}

LedgerEvent Hold::Event() const {
  LedgerEvent event;
  event.what = "hold";
  event.Add("hold", number);
  event.Add("reason", reason);
  event.Add("note", note);
  event.Add("from", fmt::to_string(from.milliseconds));
  event.Add("to", fmt::to_string(to.milliseconds));
  for (const catalog::KeyRange& range : what.ranges) {
    event.Add("keys", HexEncode(range.begin) + ' ' + HexEncode(range.end));
  }
  return event;
}

Result<Hold> Hold::FromEvent(const LedgerEvent& event) {
  Hold hold;
  Result<std::uint32_t> number = SmallNumber(event, "hold");
  if (!number) return number.error();
  hold.number = *number;
  hold.reason = event.Find("reason");
  hold.note = event.Find("note");
  hold.time = event.time;
  for (const auto& [name, moment] : {std::pair("from", &hold.from), std::pair("to", &hold.to)}) {
    const std::string_view text = event.Find(name);
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, moment->milliseconds);
    if (error != std::errc() || parsed != end)
      return Bad(event, fmt::format("{} is no time", name));
  }
  for (const std::string_view keys : event.FindAll("keys")) {
    const std::size_t space = std::min(keys.find(' '), keys.size());
    const auto begin = HexDecode(keys.substr(0, space));
    const auto end = HexDecode(keys.substr(std::min(space + 1, keys.size())));
    if (!begin || !end) return Bad(event, "a range of keys cannot be read");
    hold.what.ranges.push_back({*begin, *end});
  }
  return hold;
}

Status Holdings::ApplyHold(const LedgerEvent& event) {
  if (event.what == "hold") {
    Result<Hold> hold = Hold::FromEvent(event);
    if (!hold) return hold.error();
    const std::uint32_t number = hold->number;
    if (!holds_.emplace(number, *std::move(hold)).second) {
      return Bad(event, "there was one with this number before");
    }
    return {};
  }
  Result<std::uint32_t> number = SmallNumber(event, "hold");
  if (!number) return number.error();
  const auto hold = holds_.find(*number);
  if (hold == holds_.end()) return Bad(event, "it was never begun");
  hold->second.end = event.time;
  return {};
}

LedgerEvent Dependency::Event() const {
  LedgerEvent event;
  event.what = kDependencyEvent;
  event.Add("run", run);
  event.Add("index", index);
  event.Add("sha256", sha256);
  event.Add("documents", documents);
  if (!origin.empty()) event.Add("origin", origin);
  return event;
}

Result<Dependency> Dependency::FromEvent(const LedgerEvent& event) {
  Dependency dependency;
  const Result<std::uint32_t> run = SmallNumber(event, "run");
  if (!run) return run.error();
  const Result<std::uint64_t> documents = event.Number("documents");
  if (!documents) return Bad(event, documents.error().text);
  dependency.run = *run;
  dependency.index = event.Find("index");
  dependency.sha256 = event.Find("sha256");
  dependency.documents = *documents;
  dependency.origin = event.Find("origin");
  dependency.time = event.time;
  return dependency;
}

Status Holdings::ApplyDependency(const LedgerEvent& event) {
  Result<Dependency> dependency = Dependency::FromEvent(event);
  if (!dependency) return dependency.error();
  if (!runs_.contains(dependency->run)) return Bad(event, "its run was never begun");
  dependencies_.push_back(*std::move(dependency));
  return {};
}

}  // namespace stele::archive
