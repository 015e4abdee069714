#include "access/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "access/payload_lengths.h"
#include "archive/capture_text.h"
#include "archive/host_tally.h"
#include "archive/revisit_resolver.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using namespace std::chrono_literals;
using catalog::HeldCapture;

constexpr auto kLookInterval = 500ms;
// While captures keep coming, so many times as long as the last took.
constexpr std::int64_t kRestFactor = 10;
constexpr std::size_t kTitleBytesMax = 300;
constexpr int kAskEvery = 256;
// Others than the public that are kept for one archive.
constexpr std::size_t kClassesMax = 8;
// Where rules are about the age of captures, sums are made again after so long.
constexpr std::int64_t kAgedMilliseconds = 3600 * 1000;

// Adds captures up, in the order of keys.
class Adder {
 public:
  Adder(Overview& overview, const Sight& sight) : overview_(overview), lengths_(sight) {}

  void Add(std::string_view key, const HeldCapture& held) {
    const catalog::Capture& row = held.row;
    const bool is_new = key != key_;
    if (is_new) {
      key_ = key;
      digests_.clear();
      lengths_.Clear();
    }
    AddSums(row);
    AddDuplicates(held);
    AddSite(key, row, is_new);
  }

  void End() {
    std::stable_sort(overview_.sites.begin(), overview_.sites.end(),
                     [](const auto& a, const auto& b) { return a.pages > b.pages; });
  }

 private:
  void AddSums(const catalog::Capture& row) {
    const bool is_page = (row.flags & catalog::kPage) != 0;
    overview_.all.Add(row);
    overview_.stored_bytes += row.place.length;
    overview_.pages += is_page ? 1 : 0;
    Overview::Month& month = overview_.months[FormatIso(row.time).substr(0, 7)];
    month.all.Add(row);
    month.pages += is_page ? 1 : 0;
    overview_.types[row.type.empty() ? "-" : std::string(row.type)].Add(row);
    overview_.statuses[row.status == 0 ? "-" : fmt::to_string(row.status)].Add(row);
    overview_.runs[row.run].Add(row);
    overview_.first = std::min(overview_.first.value_or(row.time), row.time);
    overview_.last = std::max(overview_.last.value_or(row.time), row.time);
  }

  // With the bytes that they would have taken once more.
  void AddDuplicates(const HeldCapture& held) {
    catalog::Capture row = held.row;
    row.length = lengths_.Of(held);
    if ((row.flags & catalog::kRevisit) != 0) overview_.revisits.Add(row);
    if (row.sha1 && !digests_.insert(*row.sha1).second) overview_.repeated.Add(row);
  }

  void AddSite(std::string_view key, const catalog::Capture& row, bool is_new) {
    const std::string host = archive::HostOfKey(key);
    if (host.empty()) return;
    if (overview_.sites.empty() || overview_.sites.back().host != host) {
      Overview::Site& site = overview_.sites.emplace_back();
      site.host = host;
      site.url = row.url;
      site.first = site.last = row.time;
    }
    Overview::Site& site = overview_.sites.back();
    site.first = std::min(site.first, row.time);
    site.last = std::max(site.last, row.time);
    site.urls += is_new ? 1 : 0;
    ++site.captures;
    site.bytes += row.length;
    ++site.months[FormatIso(row.time).substr(0, 7)];
    if ((row.flags & catalog::kPage) == 0) return;
    if (site.pages++ == 0 || row.url.size() < site.url.size()) site.url = row.url;
  }

  Overview& overview_;
  std::string key_;
  std::set<catalog::Sha1Bytes> digests_;  // of the key
  PayloadLengths lengths_;
};

// Gathers the pages, each once, with the capture that its title comes from.
class PageList {
 public:
  explicit PageList(Overview& overview) : overview_(overview) {}

  void Add(std::string_view key, const HeldCapture& held) {
    const catalog::Capture& row = held.row;
    if ((row.flags & catalog::kPage) == 0 || row.status >= 300) return;
    if (key != key_ || overview_.page_list.empty()) {
      if (overview_.page_list.size() >= Overview::kPagesMax) return;
      key_ = key;
      Overview::Page& page = overview_.page_list.emplace_back();
      page.first = page.last = row.time;
      sources_.emplace_back();
    }
    Overview::Page& page = overview_.page_list.back();
    ++page.captures;
    if (!sources_.back().bytes || row.time >= page.last) {
      page.url = row.url;
      sources_.back() = held;
    }
    page.first = std::min(page.first, row.time);
    page.last = std::max(page.last, row.time);
  }

  const std::vector<HeldCapture>& sources() const { return sources_; }

 private:
  Overview& overview_;
  std::string key_;
  std::vector<HeldCapture> sources_;  // as overview_.page_list
};

std::string TitleOf(const Sight& sight, const HeldCapture& capture) {
  HeldCapture payload = capture;
  if ((capture.row.flags & catalog::kRevisit) != 0) {
    Result<HeldCapture> original = archive::RevisitResolver(sight.view()).Resolve(capture);
    if (!original) return "";
    payload = *std::move(original);
    if (!sight.Shows(KeyOfCapture(payload.row), payload.row)) return "";
  }
  const Result<std::string> title = archive::TitleOfCapture(sight.view(), payload.row);
  return title ? title->substr(0, kTitleBytesMax) : "";
}

}  // namespace

Result<Overview> MakeOverview(const Sight& sight, const Overview* before,
                              const std::function<bool()>& stop) {
  const Error stopped{ErrorCode::kBusy, "it was stopped"};
  Overview overview;
  Adder adder(overview, sight);
  PageList pages(overview);
  archive::CaptureQuery query;
  query.where.what = catalog::SelectAll();
  SeenCaptures captures(sight, query);
  for (int n = 1;; ++n) {
    if (n % kAskEvery == 0 && stop()) return stopped;
    Result<const HeldCapture*> held = captures.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    adder.Add(captures.key(), **held);
    pages.Add(captures.key(), **held);
  }
  adder.End();
  std::unordered_map<std::string, std::string> known;
  if (before != nullptr) {
    for (const Overview::Page& page : before->page_list) {
      known.emplace(page.url + FormatDigits17(page.last), page.title);
    }
  }
  for (std::size_t i = 0; i < overview.page_list.size(); ++i) {
    if (stop()) return stopped;
    Overview::Page& page = overview.page_list[i];
    const auto old = known.find(page.url + FormatDigits17(page.last));
    page.title = old != known.end() ? old->second : TitleOf(sight, pages.sources()[i]);
    page.words = AsciiLower(page.title + ' ' + page.url);
  }
  overview.titles_complete = overview.page_list.size() < Overview::kPagesMax;
  return overview;
}

Overviews::Overviews(const ServedArchives& archives, const io::Clock& clock)
    : archives_(archives), clock_(clock) {
  thread_ = std::thread([this] { Loop(); });
}

Overviews::~Overviews() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const Overview> Overviews::Of(const Sight& sight) {
  const std::string viewers = sight.snapshot()->rules->ClassOf(sight.viewer());
  const std::lock_guard lock(mutex_);
  ByClass& classes = made_[sight.snapshot()->name];
  const auto found = classes.find(viewers);
  if (found != classes.end()) {
    found->second.asked = sight.now();
    return found->second.overview;
  }
  if (classes.size() > kClassesMax) {
    classes.erase(std::min_element(
        classes.begin(), classes.end(),
        [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; }));
  }
  Made& made = classes[viewers];
  made.viewer = sight.viewer();
  made.asked = sight.now();
  wanted_ = true;
  wake_.notify_all();
  return nullptr;
}

void Overviews::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wanted_ = false;
    lock.unlock();
    for (const auto& archive : archives_.all()) {
      const std::shared_ptr<const Snapshot> now = archive->Now();
      for (const std::string& viewers : ClassesOf(*now)) Renew(now, viewers);
    }
    lock.lock();
    wake_.wait_for(lock, kLookInterval, [this] { return stopping_ || wanted_; });
  }
}

std::vector<std::string> Overviews::ClassesOf(const Snapshot& now) {
  const std::lock_guard lock(mutex_);
  ByClass& classes = made_[now.name];
  std::erase_if(
      classes, [&](const auto& one) { return one.first != now.rules->ClassOf(one.second.viewer); });
  classes[now.rules->ClassOf({})].asked = clock_.Now();
  std::vector<std::string> names;
  for (const auto& [name, made] : classes) names.push_back(name);
  return names;
}

void Overviews::Renew(const std::shared_ptr<const Snapshot>& now, const std::string& viewers) {
  const auto find = [&]() -> Made* {
    ByClass& classes = made_[now->name];
    const auto found = classes.find(viewers);
    return found == classes.end() ? nullptr : &found->second;
  };
  Made before;
  {
    const std::lock_guard lock(mutex_);
    const Made* const known = find();
    if (known == nullptr) return;
    before = *known;
  }
  const Timestamp begin = clock_.Now();
  if (before.from != nullptr) {
    const bool aged = now->rules->has_ages() &&
                      begin.milliseconds - before.begun.milliseconds > kAgedMilliseconds;
    if ((before.from->generation == now->generation && !aged) || begin < before.rest) return;
  }
  Result<Overview> overview =
      MakeOverview(Sight(now, begin, before.viewer), before.overview.get(), [this] {
        const std::lock_guard lock(mutex_);
        return stopping_;
      });
  if (!overview) return;  // it is looked at again
  const Timestamp end = clock_.Now();
  const std::lock_guard lock(mutex_);
  Made* const made = find();
  if (made == nullptr) return;
  made->overview = std::make_shared<const Overview>(*std::move(overview));
  made->from = now;
  made->begun = begin;
  made->rest = {end.milliseconds + kRestFactor * (end.milliseconds - begin.milliseconds)};
}

}  // namespace stele::access
