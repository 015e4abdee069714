#include <fmt/format.h>

#include <atomic>
#include <unordered_set>

#include "cli/record_selection.h"
#include "cli/rewriting.h"
#include "cli/warc_commands.h"
#include "cli/warc_conversion.h"

namespace stele::cli {
namespace {

using record::Record;
using record::RecordType;

// The records that belong to selected ones, known after a first pass: those that a selected one
// names in WARC-Concurrent-To, and those that name a selected one. Ids are kept as hashes: a
// collision would add a record, one in many billions.
class Companions {
 public:
  void AddSelected(const Record& record) {
    selected_.insert(Hash(record.record_id()));
    for (const std::string_view id : record.fields.FindAll("WARC-Concurrent-To")) {
      named_.insert(Hash(id));
    }
  }

  bool Has(const Record& record) const {
    if (record.type != RecordType::kRequest && record.type != RecordType::kMetadata) return false;
    if (named_.contains(Hash(record.record_id()))) return true;
    for (const std::string_view id : record.fields.FindAll("WARC-Concurrent-To")) {
      if (selected_.contains(Hash(id))) return true;
    }
    return false;
  }

 private:
  static std::size_t Hash(std::string_view id) { return std::hash<std::string_view>()(id); }

  std::unordered_set<std::size_t> selected_;
  std::unordered_set<std::size_t> named_;
};

struct FilterOptions {
  RecordSelection selection;
  bool with_concurrent = false;
};

class Filtering final : public Rewriting {
 public:
  Filtering(Context& context, LockedRandom& random, const RewriteTarget& target,
            std::unique_ptr<warc::WarcWriter> writer, const FilterOptions& options,
            std::atomic<std::uint64_t>& written)
      : context_(context),
        reading_(target.reading),
        writer_(std::move(writer)),
        conversion_(random, context.clock, target.name, *writer_),
        options_(options),
        written_(written) {}

  Result<ExitCode> Add(FileJob& job) override {
    Companions companions;
    if (options_.with_concurrent) {
      const Status found = FindCompanions(job, companions);
      if (!found) return found.error();
    }
    Result<std::unique_ptr<WholeRecords>> opened = WholeRecords::Open(context_, job, reading_);
    if (!opened) return opened.error();
    WholeRecords& records = **opened;
    conversion_.BeginFile(job.path);
    for (;;) {
      Result<const Record*> record = records.Next();
      if (!record) return record.error();
      if (*record == nullptr) return records.Report();
      PeekedBlock block(records.reader(), **record);
      Result<bool> selected = Selects(options_.selection, **record, block);
      if (!selected) return selected.error();
      if (!*selected && !companions.Has(**record)) continue;
      Result<bool> copied = Copy(**record, block, records);
      if (!copied) return copied.error();
      if (*copied) ++written_;
    }
  }

 private:
  Status FindCompanions(FileJob& job, Companions& companions) {
    if (job.path == "-") {
      return Error{ErrorCode::kInvalid,
                   "--with-concurrent reads the records twice, which a pipe does not allow: give a "
                   "file"};
    }
    auto file = archive_file::ArchiveFile::Open(context_.fs, job.path);
    if (!file) return file.error();
    record::RecordReader& reader = (*file)->reader();
    for (;;) {
      Result<const Record*> record = reader.Next();
      if (!record) return record.error();
      if (*record == nullptr) return {};
      PeekedBlock block(reader, **record);
      Result<bool> selected = Selects(options_.selection, **record, block);
      if (!selected) return selected.error();
      if (*selected) companions.AddSelected(**record);
    }
  }

  Result<bool> Copy(const Record& record, PeekedBlock& block, WholeRecords& records) {
    if (record.format != record::Format::kWarc) {
      return conversion_.Convert(record, block, records);
    }
    Result<bool> whole = records.Hold([&] { return block.Read(); });
    if (!whole || !*whole) return whole;
    const Status put = WriteCopy(record, records.block(), *writer_);
    return put ? Result<bool>(true) : put.error();
  }

  Context& context_;
  WholeRecords::Options reading_;
  std::unique_ptr<warc::WarcWriter> writer_;
  WarcConversion conversion_;
  const FilterOptions& options_;
  std::atomic<std::uint64_t>& written_;
};

ExitCode Run(const Arguments& arguments, Context& context) {
  Result<RecordSelection> selection = SelectionOf(arguments);
  const Result<warc::WriterOptions> wanted = CompressionOf(arguments, record::Compression::kGzip);
  if (!selection || !wanted) {
    Complain(context, (selection ? wanted.error() : selection.error()).text);
    return ExitCode::kUsage;
  }
  const FilterOptions options{*std::move(selection), arguments.Has("--with-concurrent")};
  LockedRandom random(context.random);
  std::atomic<std::uint64_t> written = 0;
  RewriteCommand command;
  command.output_name = [&](std::string_view name) { return WarcName(name, wanted->compression); };
  command.begin = [&](const RewriteTarget& target) -> Result<std::unique_ptr<Rewriting>> {
    auto writer = warc::WarcWriter::Create(target.sink, *wanted);
    if (!writer) return writer.error();
    return std::unique_ptr<Rewriting>(
        std::make_unique<Filtering>(context, random, target, *std::move(writer), options, written));
  };
  const ExitCode code = RunRewriting(arguments, context, command);
  if (code <= ExitCode::kDefects && !arguments.Has("--quiet") && !arguments.Has("--json")) {
    Complain(context, fmt::format("wrote {} records", written.load()));
  }
  return code;
}

}  // namespace

Command WarcFilterCommand() {
  Command command;
  command.name = "filter";
  command.summary = "Write the records that are asked for to a new WARC file";
  command.details =
      "Records of WARC files are copied byte by byte; those of ARC and Tianwang files become WARC "
      "1.1. Conditions of different kinds must all hold; of one kind that is given several times, "
      "one must.\n\nRecords that are damaged are left out and named; the exit code is then 1. A "
      "record is written when all of it has been read: large ones are kept in a temporary file "
      "beside the output until then.";
  command.arguments = "FILE...";
  command.options = WithRewriteOptions(WithCompressionOptions(WithSelectionOptions(
      {{"--with-concurrent", "",
        "Also the request and metadata records that belong to a selected record"}})));
  command.examples = {
      {"stele warc filter --domain example.org *.warc.gz --output example.warc.gz",
       "One site out of a crawl"},
      {"stele warc filter --mime text/html --status 200 --with-concurrent x.warc.gz --output "
       "pages.warc.gz",
       "The pages, with their requests"},
      {"stele warc filter --type request --invert x.warc.gz --output small.warc.gz",
       "All but requests"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
