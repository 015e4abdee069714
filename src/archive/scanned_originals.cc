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
  if (record_id != 0) by_record_id_.try_emplace(record_id);
  if (const std::uint64_t payload = PayloadOf(revisit); payload != 0) {
    by_digest_.try_emplace(payload);
  }
}

void ScannedOriginals::Take(Table& table, std::uint64_t key, const Match& match, bool is_removed) {
  const auto found = table.find(key);
  if (found == table.end()) return;
  if (is_removed) {
    found->second.was_removed = true;
  } else if (found->second.first.size() < kMatchesMax) {
    found->second.first.push_back(match);
  }
}

void ScannedOriginals::Fill(const ArchiveView& view) {
  const std::set<catalog::CaptureId>& removed = view.holdings().removed();
  std::uint64_t position = 0;
  for (const auto& [number, container] : view.holdings().containers()) {
    const Status read =
        view.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
          const catalog::Capture& row = capture.row;
          const Match match{position++, row.id};
          const bool is_removed = removed.contains(row.id);
          if (capture.record_id != 0) Take(by_record_id_, capture.record_id, match, is_removed);
          if ((row.flags & catalog::kRevisit) != 0) return {};
          if (row.sha256) Take(by_digest_, NumberOf(*row.sha256), match, is_removed);
          if (row.sha1) Take(by_digest_, NumberOf(*row.sha1), match, is_removed);
          return {};
        });
    if (!read && failure_) failure_ = RowsFailure(container, read.error());
  }
}

bool ScannedOriginals::WasAsked(const catalog::Capture& revisit, std::uint64_t record_id) const {
  const std::uint64_t payload = PayloadOf(revisit);
  return (record_id == 0 || by_record_id_.contains(record_id)) &&
         (payload == 0 || by_digest_.contains(payload));
}

ScannedOriginals::Answer ScannedOriginals::Find(const catalog::Capture& revisit,
                                                std::uint64_t record_id) const {
  Answer answer;
  std::vector<Match> matches;
  const auto add = [&](const Table& table, std::uint64_t key) {
    const auto found = table.find(key);
    if (found == table.end()) return;
    matches.insert(matches.end(), found->second.first.begin(), found->second.first.end());
    answer.was_removed = answer.was_removed || found->second.was_removed;
  };
  if (record_id != 0) add(by_record_id_, record_id);
  if (const std::uint64_t payload = PayloadOf(revisit); payload != 0) add(by_digest_, payload);
  std::sort(matches.begin(), matches.end(),
            [](const Match& a, const Match& b) { return a.position < b.position; });
  for (const Match& match : matches) answer.ids.push_back(match.id);
  return answer;
}

}  // namespace stele::archive
