#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "cli/amount.h"
#include "cli/file_jobs.h"
#include "cli/warc_commands.h"
#include "formats/archive_file/archive_file.h"
#include "formats/record/block_stream.h"
#include "formats/record/digest_checker.h"
#include "formats/warc/rules.h"
#include "util/json.h"

namespace stele::cli {
namespace {

struct Totals {
  std::atomic<std::uint64_t> files = 0;
  std::atomic<std::uint64_t> records = 0;
  std::atomic<std::uint64_t> digests = 0;
  std::atomic<std::uint64_t> defects = 0;
};

// One line per defect, for people or programs.
class Report {
 public:
  Report(FileJob& job, bool json) : job_(job), json_(json) {}

  Status Add(std::uint64_t offset, std::string_view record_id, std::string_view rule,
             std::string_view text) {
    ++count_;
    std::string line;
    if (json_) {
      line += "{\"file\": ";
      AppendJsonString(line, job_.path);
      line += fmt::format(", \"offset\": {}, \"record_id\": ", offset);
      AppendJsonString(line, record_id);
      line += ", \"rule\": ";
      AppendJsonString(line, rule);
      line += ", \"text\": ";
      AppendJsonString(line, text);
      line += "}\n";
    } else {
      line = fmt::format("{}:{}: {}: {}{}{}\n", job_.path, offset, rule, text,
                         record_id.empty() ? "" : " ", record_id);
    }
    return job_.out.Write(line);
  }
  std::uint64_t count() const { return count_; }

 private:
  FileJob& job_;
  bool json_;
  std::uint64_t count_ = 0;
};

// Reads the whole record. What is damaged in its middle is reported as a loss at the end.
Status CheckRecord(record::RecordReader& reader, const record::Record& record,
                   record::DigestChecker& digests, Report& report) {
  std::vector<record::Defect> found;
  if (record.format == record::Format::kWarc) warc::CheckHead(record, found);
  digests.Begin(record);
  record::BlockStream block(reader, record);
  bool whole = true;
  for (;;) {
    Result<std::string_view> piece = block.Read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    whole = piece.ok();
    if (!piece || piece->empty()) break;
    digests.Feed(*piece);
  }
  // A block that is cut short cannot have its digest; the cut is what is wrong.
  std::vector<record::Defect> compared;
  digests.Finish(compared);
  if (whole) {
    const Result<record::Extent> extent = reader.Finish();
    if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
  }
  found.insert(found.end(), reader.defects().begin(), reader.defects().end());
  if (whole && !record.damaged) found.insert(found.end(), compared.begin(), compared.end());
  for (const record::Defect& defect : found) {
    const Status added = report.Add(record.offset, record.record_id(), defect.rule, defect.text);
    if (!added) return added;
  }
  return {};
}

Result<ExitCode> CheckFile(FileJob& job, Context& context, bool json, Totals& totals) {
  auto file = archive_file::ArchiveFile::Open(context.fs, job.path);
  if (!file) return file.error();
  record::RecordReader& reader = (*file)->reader();
  record::DigestChecker digests;
  Report report(job, json);
  std::uint64_t counted = 0;
  std::vector<std::uint64_t> damaged;  // records whose damage was named when they were read
  for (;;) {
    Result<const record::Record*> next = reader.Next();
    if (!next) return next.error();
    if (*next == nullptr) break;
    ++totals.records;
    const Status checked = CheckRecord(reader, **next, digests, report);
    if (!checked) return checked.error();
    if ((*next)->damaged && !reader.defects().empty()) damaged.push_back((*next)->offset);
    job.done += reader.position() - counted;
    counted = reader.position();
  }
  for (const record::Loss& loss : reader.losses()) {
    if (std::find(damaged.begin(), damaged.end(), loss.begin) != damaged.end()) continue;
    const Status added = report.Add(loss.begin, "", "unreadable",
                                    fmt::format("bytes {} to {} hold no readable record: {}",
                                                loss.begin, loss.end, loss.reason));
    if (!added) return added.error();
  }
  if ((*file)->empty()) {
    const Status added = report.Add(0, "", "empty", "the file is empty");
    if (!added) return added.error();
  }
  ++totals.files;
  totals.digests += digests.compared();
  totals.defects += report.count();
  return report.count() == 0 ? ExitCode::kDone : ExitCode::kDefects;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  Totals totals;
  const bool json = arguments.Has("--json");
  const ExitCode code =
      RunOverFiles(arguments.positionals, threads, context.out, ShowsProgress(arguments, context),
                   context, [&](FileJob& job) { return CheckFile(job, context, json, totals); });
  if (!arguments.Has("--quiet")) {
    Complain(context,
             fmt::format("checked {}, {}, {}: {}", Count(totals.files, "file"),
                         Count(totals.records, "record"), Count(totals.digests, "digest"),
                         totals.defects == 0 ? "no defects" : Count(totals.defects, "defect")));
  }
  return code;
}

}  // namespace

Command WarcCheckCommand() {
  Command command;
  command.name = "check";
  command.summary = "Find everything that is wrong in archive files";
  command.details =
      "Reads every byte: structure, fields, block and payload digests. Each defect is one line, "
      "FILE:OFFSET: RULE: what is wrong, and the record's id. The exit code is 1 when there are "
      "any. docs/formats/warc.md lists the rules.";
  command.arguments = "FILE...";
  command.options = WithFileOptions({{"--json", "", "One JSON object per defect"}});
  command.examples = {{"stele warc check *.warc.gz", "Check a folder, several files at a time"},
                      {"stele warc check --json x.warc.gz | jq .rule", "For programs"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
