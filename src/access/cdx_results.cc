#include "access/cdx_results.h"

#include "archive/index_line.h"
#include "util/base_encoding.h"

namespace stele::access {

using catalog::HeldCapture;

Result<std::unique_ptr<CdxResults>> CdxResults::Open(const Sight& sight, CdxQuery query) {
  std::unique_ptr<CdxResults> results(new CdxResults(sight, std::move(query)));
  if (const Status begun = results->Begin(); !begun) return begun.error();
  return results;
}

Status CdxResults::Begin() {
  for (const CdxFilter& filter : query_.filters) {
    std::unique_ptr<RegexFilter>& regex = regexes_.emplace_back();
    const bool whole = filter.kind == CdxFilter::Kind::kRegexWhole;
    if (!whole && filter.kind != CdxFilter::Kind::kRegexBegin) continue;
    auto made = RegexFilter::Make(
        filter.text, whole ? RegexFilter::Anchor::kWhole : RegexFilter::Anchor::kBegin);
    if (!made) return made.error();
    regex = std::move(*made);
  }
  Result<catalog::Selection> what = query_.Selected();
  if (!what) return what.error();
  const bool closest = query_.sort == CdxQuery::Sort::kClosest;
  if (closest || query_.sort == CdxQuery::Sort::kReverse) {
    key_ = KeyOfUrl(query_.url);
    nearest_ = std::make_unique<NearestCaptures>(
        sight_, key_, closest ? query_.closest : query_.to,
        closest ? NearestCaptures::Direction::kBoth : NearestCaptures::Direction::kBack);
    return {};
  }
  archive::CaptureQuery captures;
  captures.where.what = *std::move(what);
  captures.where.from = query_.from;
  captures.where.to = query_.to;
  captures.where.resume = query_.resume;
  forward_ = std::make_unique<SeenCaptures>(sight_, std::move(captures));
  return query_.last ? CollectLast() : Status();
}

Result<const HeldCapture*> CdxResults::NextCapture() {
  if (forward_) return forward_->Next();
  for (;;) {
    Result<const HeldCapture*> held = nearest_->Next();
    if (!held || *held == nullptr) return held;
    const Timestamp time = (*held)->row.time;
    if (query_.sort == CdxQuery::Sort::kReverse && time < query_.from) return nullptr;
    if (query_.from <= time && time <= query_.to) return held;
  }
}

Result<bool> CdxResults::Passes() {
  for (std::size_t i = 0; i < query_.filters.size(); ++i) {
    const CdxFilter& filter = query_.filters[i];
    std::string_view value = ValueOf(line_, filter.field);
    if (value.empty()) value = "-";
    bool matches = false;
    if (filter.kind == CdxFilter::Kind::kContains) {
      matches = value.find(filter.text) != std::string_view::npos;
    } else if (filter.kind == CdxFilter::Kind::kEquals) {
      matches = value == filter.text;
    } else {
      Result<bool> found = regexes_[i]->Matches(value);
      if (!found) return found;
      matches = *found;
    }
    if (matches == filter.negated) return false;
  }
  return true;
}

// Whether the line has what the one before it had. Remembers it.
bool CdxResults::Repeats() {
  bool repeats = false;
  collapsed_.resize(query_.collapses.size());
  for (std::size_t i = 0; i < query_.collapses.size(); ++i) {
    const CdxCollapse& collapse = query_.collapses[i];
    std::string_view value = ValueOf(line_, collapse.field);
    if (collapse.size) value = value.substr(0, *collapse.size);
    if (any_ && collapsed_[i] == value) {
      repeats = true;
    } else {
      collapsed_[i] = value;
    }
  }
  any_ = true;
  return repeats;
}

Result<bool> CdxResults::Advance() {
  for (;;) {
    Result<const HeldCapture*> held = NextCapture();
    if (!held) return held.error();
    if (*held == nullptr) return false;
    const catalog::Capture& row = (*held)->row;
    const archive::Container* container = sight_.view().holdings().Find(row.place.container);
    line_ = archive::IndexLineOf(row, forward_ ? forward_->key() : std::string_view(key_),
                                 row.place, container == nullptr ? "" : container->name);
    Result<bool> passes = Passes();
    if (!passes) return passes;
    if (*passes && !Repeats()) return true;
  }
}

Status CdxResults::CollectLast() {
  for (;;) {
    Result<bool> found = Advance();
    if (!found) return found.error();
    if (!*found) return {};
    last_.push_back(line_);
    if (last_.size() > query_.limit) last_.pop_front();
  }
}

Result<const cdx::Capture*> CdxResults::Next() {
  if (query_.last) {
    if (last_.empty()) return nullptr;
    line_ = std::move(last_.front());
    last_.pop_front();
    return &line_;
  }
  if (given_ >= query_.limit) return nullptr;
  for (;;) {
    Result<bool> found = Advance();
    if (!found) return found.error();
    if (!*found) return nullptr;
    if (skipped_ >= query_.offset) break;
    ++skipped_;
  }
  ++given_;
  if (forward_ && given_ == query_.limit) resume_ = HexEncode(forward_->Resume());
  return &line_;
}

std::string CdxResults::ResumeKey() {
  if (resume_.empty() || query_.last) return "";
  // Only where something follows.
  Result<bool> found = Advance();
  return found && *found ? resume_ : "";
}

}  // namespace stele::access
