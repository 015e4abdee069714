#include "archive/scanned_originals.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/wanted_payloads.h"

namespace stele::archive {
namespace {

// The first may be the revisit itself, so one more is kept.
constexpr std::size_t kMatchesMax = 2;

}  // namespace

Error RowsFailure(const Container& container, const Error& error) {
  const std::string text =
      fmt::format("container {} ({} in volume {}) cannot be looked into: {}", container.number,
                  container.name, container.volume, error.text);
  if (error.code != ErrorCode::kNotFound) return {error.code, text};
  return {ErrorCode::kIo, text + "; bring the volume back, or run stele reindex"};
}

void ScannedOriginals::Ask(const catalog::Capture& revisit, std::uint64_t record_id) {
  const auto ask = [&](Table& table, std::uint64_t key) {
    if (key != 0 && table.try_emplace(key).second) has_new_ = true;
  };
  ask(by_record_id_, record_id);
  ask(by_digest_, PayloadOf(revisit));
}

void ScannedOriginals::BeginPass() {
  has_new_ = false;
  for (Table* table : {&by_record_id_, &by_digest_}) {
    for (auto& [key, matches] : *table) matches.is_wanted = matches.first.empty();
  }
}

void ScannedOriginals::EndPass(bool is_over_all) {
  for (Table* table : {&by_record_id_, &by_digest_}) {
    for (auto& [key, matches] : *table) matches.is_final = matches.is_final || is_over_all;
  }
}

bool ScannedOriginals::Take(Table& table, std::uint64_t key, const Match& match, bool is_removed) {
  const auto found = table.find(key);
  if (found == table.end() || !found->second.is_wanted) return false;
  Matches& matches = found->second;
  if (is_removed) {
    matches.was_removed = true;
    return false;
  }
  if (matches.first.size() < kMatchesMax) matches.first.push_back(match);
  return true;
}

bool ScannedOriginals::Fill(const ArchiveView& view, const Pass& pass) {
  BeginPass();
  bool found = false;
  const std::set<catalog::CaptureId>& removed = view.holdings().removed();
  for (const auto& [number, container] : view.holdings().containers()) {
    if (pass.run && container.run != *pass.run) continue;
    const Status read =
        view.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
          const catalog::Capture& row = capture.row;
          if (pass.counts && !pass.counts(row)) return {};
          const Match match{position_++, row.id};
          const bool is_removed = removed.contains(row.id);
          const auto take = [&](Table& table, std::uint64_t key) {
            if (Take(table, key, match, is_removed)) found = true;
          };
          if (capture.record_id != 0) take(by_record_id_, capture.record_id);
          if ((row.flags & catalog::kRevisit) != 0) return {};
          if (row.sha256) take(by_digest_, NumberOf(*row.sha256));
          if (row.sha1) take(by_digest_, NumberOf(*row.sha1));
          return {};
        });
    if (!read && failure_) failure_ = RowsFailure(container, read.error());
  }
  EndPass(!pass.run);
  return found;
}

ScannedOriginals::Answer ScannedOriginals::Find(const catalog::Capture& revisit,
                                                std::uint64_t record_id) {
  Ask(revisit, record_id);
  Answer answer;
  std::vector<Match> matches;
  const auto add = [&](const Table& table, std::uint64_t key) {
    const auto found = table.find(key);
    if (found == table.end()) return;
    matches.insert(matches.end(), found->second.first.begin(), found->second.first.end());
    answer.was_removed = answer.was_removed || found->second.was_removed;
    answer.is_final = answer.is_final && found->second.is_final;
  };
  add(by_record_id_, record_id);
  add(by_digest_, PayloadOf(revisit));
  std::sort(matches.begin(), matches.end(),
            [](const Match& a, const Match& b) { return a.position < b.position; });
  for (const Match& match : matches) answer.ids.push_back(match.id);
  return answer;
}

}  // namespace stele::archive
