#include "cli/whole_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/json.h"

namespace stele::cli {

using record::Loss;
using record::Record;

WholeRecords::WholeRecords(Context& context, FileJob& job, Options options)
    : context_(context),
      job_(job),
      options_(std::move(options)),
      block_(context.fs, options_.spill_path) {}

Result<std::unique_ptr<WholeRecords>> WholeRecords::Open(Context& context, FileJob& job,
                                                         Options options) {
  std::unique_ptr<WholeRecords> records(new WholeRecords(context, job, std::move(options)));
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(context.fs, job.path);
  if (!file) return file.error();
  records->file_ = *std::move(file);
  return records;
}

Result<const Record*> WholeRecords::Next() {
  Result<const Record*> next = reader().Next();
  job_.done += reader().position() - std::min(counted_, reader().position());
  counted_ = std::max(counted_, reader().position());
  record_ = next ? *next : nullptr;
  return next;
}

Result<bool> WholeRecords::HoldStored(const Observe& observe) {
  return Hold([this] { return reader().ReadBlock(); }, observe);
}

Result<bool> WholeRecords::Hold(const Read& read, const Observe& observe) {
  block_.Clear();
  std::optional<std::string> damage;
  for (;;) {
    Result<std::string_view> piece = read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) damage = piece.error().text;
    if (!piece || piece->empty()) break;
    if (observe) observe(*piece);
    if (const Status held = block_.Append(*piece); !held) return held.error();
  }
  return Judge(std::move(damage));
}

Result<bool> WholeRecords::Judge(std::optional<std::string> damage) {
  Result<record::Extent> extent = reader().Finish();
  if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
  extent_ = record::Extent{record_->offset, extent ? extent->length : 0, 0};
  const bool read_to_its_end = !damage && extent;
  if (!damage && !extent) damage = extent.error().text;
  if (!damage && record_->damaged) {
    damage = reader().defects().empty() ? "its length is wrong" : reader().defects().back().text;
  }
  if (!damage) return true;
  if (read_to_its_end && block_.size() == record_->content_length) {
    return KeepsDespite(*std::move(damage));
  }
  set_aside_.push_back({extent_.offset, extent_.offset + extent_.length, *std::move(damage)});
  return false;
}

bool WholeRecords::KeepsDespite(std::string reason) {
  std::vector<Loss>& list = options_.keep_damaged ? kept_damaged_ : set_aside_;
  list.push_back({extent_.offset, extent_.offset + extent_.length, std::move(reason)});
  return options_.keep_damaged;
}

std::vector<Loss> WholeRecords::Losses() const {
  std::vector<Loss> losses = file_->reader().losses();
  const std::size_t known = losses.size();
  for (const Loss& loss : set_aside_) {
    // The reader names the whole range of most of them.
    const auto after = std::upper_bound(
        losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(known), loss.begin,
        [](std::uint64_t at, const Loss& one) { return at < one.begin; });
    if (after != losses.begin() && std::prev(after)->end > loss.begin) continue;
    losses.push_back(loss);
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const Loss& a, const Loss& b) { return a.begin < b.begin; });
  return losses;
}

void WholeRecords::Complain(const Loss& loss, bool kept) const {
  if (!options_.json) {
    cli::Complain(context_,
                  fmt::format("{}: bytes {} to {} are {}: {}", job_.path, loss.begin, loss.end,
                              kept ? "kept though damaged" : "lost", loss.reason));
    return;
  }
  std::string line = "{\"file\": ";
  AppendJsonString(line, job_.path);
  line += fmt::format(", \"begin\": {}, \"end\": {}, \"kept\": {}, \"reason\": ", loss.begin,
                      loss.end, kept);
  AppendJsonString(line, loss.reason);
  line += "}\n";
  static_cast<void>(context_.err.Write(line).ok());
}

ExitCode WholeRecords::Report() const {
  const std::vector<Loss> losses = Losses();
  for (const Loss& loss : losses) Complain(loss, false);
  for (const Loss& loss : kept_damaged_) Complain(loss, true);
  return losses.empty() && kept_damaged_.empty() ? ExitCode::kDone : ExitCode::kDefects;
}

}  // namespace stele::cli
