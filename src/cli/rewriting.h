#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/file_jobs.h"
#include "cli/whole_records.h"
#include "formats/warc/warc_writer.h"
#include "io/stream.h"

// What the commands that write archive files anew have in common: one output for all inputs
// (--output), or one for each in a directory (--directory, several at a time). An output appears
// when it is complete, or not at all.
namespace stele::cli {

// One output, as the command that fills it sees it.
struct RewriteTarget {
  io::Sink& sink;
  const std::vector<std::string>& inputs;  // all that go into it
  WholeRecords::Options reading;
  std::string_view name;  // of the output, without directory; "-" for the standard output
};

// What a command does for one output. Not thread-safe.
class Rewriting {
 public:
  virtual ~Rewriting() = default;
  // Adds one input. Errors: the output is given up.
  virtual Result<ExitCode> Add(FileJob& job) = 0;
};

struct RewriteCommand {
  // The name of an input's output in --directory, from the input's own name.
  std::function<std::string(std::string_view name)> output_name;
  std::function<Result<std::unique_ptr<Rewriting>>(const RewriteTarget& target)> begin;
};

// --output, --directory, --force, --keep-damaged, --json, and those of commands over files.
std::vector<Option> WithRewriteOptions(std::vector<Option> options);

ExitCode RunRewriting(const Arguments& arguments, Context& context, const RewriteCommand& command);

// --compression and --level. Errors: kInvalid.
std::vector<Option> WithCompressionOptions(std::vector<Option> options,
                                           std::string_view fallback = "gzip");
Result<warc::WriterOptions> CompressionOf(const Arguments& arguments, record::Compression fallback);

// "crawl.warc.gz" is "crawl.warc".
std::string_view WithoutCompressionSuffix(std::string_view name);
std::string_view CompressionSuffix(record::Compression compression);  // ".gz", ".zst", ""

// The name of a WARC file made from a file of any format: "crawl.arc.gz" gives "crawl.warc.gz".
std::string WarcName(std::string_view name, record::Compression compression);
// Without compression and format: "crawl.arc.gz" gives "crawl".
std::string_view Stem(std::string_view name);

// Writes the record that `records` holds as it stands in its file, whatever its format: its head
// byte by byte, its block, and the separator that the format wants.
Status WriteCopy(const record::Record& record, const HeldBlock& block, warc::WarcWriter& writer);
// The same with another head.
Status WriteRecord(const warc::FieldList& fields, const HeldBlock& block, warc::WarcWriter& writer);

}  // namespace stele::cli
