#include "crawl/kept_captures.h"

#include <algorithm>

#include "archive/revisit_resolver.h"
#include "crawl/crawl_notes.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::string_view kNote = "kept-captures";

}  // namespace

Result<KeptCaptures> KeptCaptures::Find(Frontier& frontier, const archive::ArchiveView& view,
                                        std::uint32_t run) {
  KeptCaptures kept;
  const Result<std::optional<std::string>> note = frontier.Note(kNote);
  if (!note) return note.error();
  ByteReader in(*note ? std::string_view(**note) : std::string_view());
  while (in.good() && !in.AtEnd()) {
    std::string key(in.Sized());
    Kept one;
    one.id.batch = in.Fixed32();
    one.id.serial = in.Fixed32();
    one.is_cut = in.Varint() != 0;
    if (in.good()) kept.Add(std::move(key), one);
  }
  LastFinished last_finished;
  const Result<std::optional<std::string>> last = frontier.Note(LastFinished::kNote);
  if (!last) return last.error();
  if (*last) last_finished = LastFinished::Decode(**last);
  const auto& runs = view.holdings().runs();
  const auto found = runs.find(run);
  if (found == runs.end() || found->second.captures == 0) return kept;
  catalog::CaptureScan::Query query;
  query.from = found->second.begin;
  query.after = last_finished.AllUpTo(catalog::BatchOf(found->second.begin));
  catalog::CaptureScan scan = view.catalog().Scan(query);
  std::set<std::string> without_session;
  for (;;) {
    const Result<const catalog::Capture*> row = scan.Next();
    if (!row) return row.error();
    if (*row == nullptr) return kept;
    if ((*row)->run != run || last_finished.Covers((*row)->id)) continue;
    const bool is_cut = ((*row)->flags & catalog::kTruncated) != 0;
    std::string key = SeenKey((*row)->url);
    // Where a session began is not what was redirected there.
    if (key == (*row)->url) {
      without_session.insert(key);
    } else if (without_session.contains(key)) {
      key = (*row)->url;
    }
    kept.Add(std::move(key), Kept{(*row)->id, is_cut});
  }
}

std::string KeptCaptures::KeyOf(std::string_view url) const {
  std::string own(url);
  return captures_.contains(own) ? own : SeenKey(url);
}

void KeptCaptures::Add(std::string key, const Kept& kept) {
  const auto [begin, end] = captures_.equal_range(key);
  const bool is_known =
      std::any_of(begin, end, [&](const auto& entry) { return entry.second.id == kept.id; });
  if (!is_known) captures_.emplace(std::move(key), kept);
}

std::optional<KeptCaptures::Kept> KeptCaptures::Of(std::string_view url) const {
  if (captures_.empty()) return std::nullopt;
  const auto [begin, end] = captures_.equal_range(KeyOf(url));
  std::optional<Kept> last;
  for (auto at = begin; at != end; ++at) {
    if (!taken_.contains(at->second.id)) last = at->second;
  }
  return last;
}

std::vector<KeptCaptures::Kept> KeptCaptures::TakeEarlier(std::string_view url) {
  std::vector<Kept> earlier;
  const std::optional<Kept> last = Of(url);
  if (!last) return earlier;
  const auto [begin, end] = captures_.equal_range(KeyOf(url));
  for (auto at = begin; at != end; ++at) {
    const Kept& kept = at->second;
    if (kept != *last && taken_.insert(kept.id).second) earlier.push_back(kept);
  }
  return earlier;
}

void KeptCaptures::Finish(std::string_view url, const catalog::CaptureId& id) {
  const auto [begin, end] = captures_.equal_range(KeyOf(url));
  const auto found =
      std::find_if(begin, end, [&](const auto& entry) { return entry.second.id == id; });
  if (found != end) captures_.erase(found);
}

std::vector<catalog::CaptureId> KeptCaptures::ids() const {
  std::vector<catalog::CaptureId> ids;
  for (const auto& [key, kept] : captures_) ids.push_back(kept.id);
  return ids;
}

void KeptCaptures::Save(Frontier& frontier) const {
  std::string bytes;
  for (const auto& [key, kept] : captures_) {
    PutSized(bytes, key);
    PutFixed32(bytes, kept.id.batch);
    PutFixed32(bytes, kept.id.serial);
    PutVarint(bytes, kept.is_cut ? 1 : 0);
  }
  frontier.SetNote(kNote, std::move(bytes));
}

bool HasItsPayload(const archive::ArchiveView& view, const catalog::CaptureId& id) {
  using archive::RevisitResolver;
  const Result<catalog::HeldCapture> held = view.catalog().Get(id);
  if (!held || !catalog::IsRevisit(held->row)) return true;
  const auto original = RevisitResolver(view, RevisitResolver::Effort::kLookUps).Resolve(*held);
  return original || original.error().code != ErrorCode::kNotFound;
}

}  // namespace stele::crawl
