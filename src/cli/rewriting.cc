#include "cli/rewriting.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/output.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Two spellings of a path are one file. Links are not followed: an output takes the place of a
// link, and what the link leads to stays as it is.
std::string Normal(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return (ignored ? std::filesystem::path(path) : absolute).lexically_normal().string();
}

std::string SpillPath(Context& context, const std::string& output) {
  if (output != "-") return output + ".block";
  std::error_code ignored;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(ignored);
  return (directory / fmt::format("stele-{}.block", io::NewUuid(context.random))).string();
}

// Errors: kInvalid when the output or a file beside it would destroy an input.
Status CheckApart(const std::vector<std::string>& inputs, const std::string& output) {
  if (output == "-") return {};
  for (const std::string& input : inputs) {
    if (input == "-") continue;
    for (const std::string& written : {output, output + ".part", output + ".block"}) {
      if (Normal(input) != Normal(written)) continue;
      return Error{ErrorCode::kInvalid,
                   fmt::format("{} is an input: write to another file", input)};
    }
  }
  return {};
}

// One output and what fills it.
class Output {
 public:
  static Result<std::unique_ptr<Output>> Create(const Arguments& arguments, Context& context,
                                                const RewriteCommand& command,
                                                const std::vector<std::string>& inputs,
                                                const std::string& path, std::string spill_path) {
    std::unique_ptr<Output> output(new Output());
    Result<std::unique_ptr<OutputFile>> file =
        OutputFile::Create(context, path, arguments.Has("--force"));
    if (!file) return file.error();
    output->file_ = *std::move(file);
    const std::string name = BaseName(path);
    Result<std::unique_ptr<Rewriting>> begun = command.begin(
        {*output->file_,
         inputs,
         {std::move(spill_path), arguments.Has("--keep-damaged"), arguments.Has("--json")},
         name});
    if (!begun) return begun.error();
    output->rewriting_ = *std::move(begun);
    return output;
  }

  Result<ExitCode> Add(FileJob& job) { return rewriting_->Add(job); }
  Status Commit() { return file_->Commit(); }

 private:
  Output() = default;
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<Rewriting> rewriting_;
};

ExitCode Fail(Context& context, const Error& error) {
  Complain(context, error.text);
  return ExitCode::kFailed;
}

ExitCode RunIntoOne(const Arguments& arguments, Context& context, const RewriteCommand& command,
                    const std::string& path) {
  const std::vector<std::string>& inputs = arguments.positionals;
  if (const Status apart = CheckApart(inputs, path); !apart) return Fail(context, apart.error());
  Result<std::unique_ptr<Output>> output =
      Output::Create(arguments, context, command, inputs, path, SpillPath(context, path));
  if (!output) return Fail(context, output.error());
  bool failed = false;
  const ExitCode code =
      RunOverFiles(inputs, 1, context.out, ShowsProgress(arguments, context), context,
                   [&](FileJob& job) -> Result<ExitCode> {
                     if (failed) return ExitCode::kFailed;  // no output, whatever else is in there
                     Result<ExitCode> added = (*output)->Add(job);
                     failed = !added || *added == ExitCode::kFailed;
                     return added;
                   });
  if (code >= ExitCode::kUsage) return code;
  if (const Status done = (*output)->Commit(); !done) return Fail(context, done.error());
  return code;
}

// Errors: kInvalid when two inputs would have one output.
Result<std::vector<std::string>> OutputPaths(const std::vector<std::string>& inputs,
                                             const std::string& directory,
                                             const RewriteCommand& command) {
  std::vector<std::string> paths;
  std::set<std::string> taken;
  for (const std::string& input : inputs) {
    if (input == "-") {
      return Error{ErrorCode::kInvalid, "the standard input has no name: use --output"};
    }
    paths.push_back(directory + '/' + command.output_name(BaseName(input)));
    if (!taken.insert(paths.back()).second) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("two of the files would be written to {}", paths.back())};
    }
    if (const Status apart = CheckApart(inputs, paths.back()); !apart) return apart.error();
  }
  return paths;
}

ExitCode RunIntoDirectory(const Arguments& arguments, Context& context,
                          const RewriteCommand& command, const std::string& directory,
                          int threads) {
  const std::vector<std::string>& inputs = arguments.positionals;
  Result<std::vector<std::string>> paths = OutputPaths(inputs, directory, command);
  if (!paths) return Fail(context, paths.error());
  if (const Status made = context.fs.MakeDirectory(directory); !made) {
    return Fail(context, made.error());
  }
  const auto rewrite = [&](FileJob& job) -> Result<ExitCode> {
    // A job's path is the one in `inputs`, not a copy.
    const std::string& path = (*paths)[static_cast<std::size_t>(&job.path - inputs.data())];
    const std::vector<std::string> own = {job.path};
    Result<std::unique_ptr<Output>> output =
        Output::Create(arguments, context, command, own, path, path + ".block");
    if (!output) return output.error();
    Result<ExitCode> added = (*output)->Add(job);
    if (!added || *added >= ExitCode::kUsage) return added;
    if (const Status done = (*output)->Commit(); !done) return done.error();
    return added;
  };
  return RunOverFiles(inputs, threads, context.out, ShowsProgress(arguments, context), context,
                      rewrite);
}

Status PutBlock(const HeldBlock& block, warc::WarcWriter& writer) {
  const Status put = block.ForEach([&](std::string_view piece) { return writer.Append(piece); });
  if (!put) return put;
  const Result<record::Extent> ended = writer.End();
  return ended ? Status() : ended.error();
}

}  // namespace

std::vector<Option> WithRewriteOptions(std::vector<Option> options) {
  options.push_back({"--output", "FILE", "Write one file from all inputs; - is standard output"});
  options.push_back({"--directory", "DIR", "Write one file for each input, in DIR"});
  options.push_back({"--force", "", "Replace files that exist"});
  options.push_back({"--keep-damaged", "",
                     "Also write records whose bytes are all there but whose length or digest says "
                     "that they are damaged"});
  options.push_back({"--json", "", "Name each loss as a JSON object on the error output"});
  return WithFileOptions(std::move(options));
}

ExitCode RunRewriting(const Arguments& arguments, Context& context, const RewriteCommand& command) {
  const int threads = ThreadsOf(arguments, context);
  if (threads == 0 || !HasFiles(arguments, context)) return ExitCode::kUsage;
  const std::optional<std::string> output = arguments.Get("--output");
  const std::optional<std::string> directory = arguments.Get("--directory");
  if (output.has_value() == directory.has_value()) {
    Complain(context, "Where to? Give either --output FILE or --directory DIR.");
    return ExitCode::kUsage;
  }
  return output ? RunIntoOne(arguments, context, command, *output)
                : RunIntoDirectory(arguments, context, command, *directory, threads);
}

std::vector<Option> WithCompressionOptions(std::vector<Option> options, std::string_view fallback) {
  options.push_back(
      {"--compression", "NAME", "gzip, zstd or none: each record for itself", fallback});
  options.push_back({"--level", "N", "From fast to small: 0 to 12 for gzip, 1 to 19 for zstd",
                     "6 for gzip, 9 for zstd"});
  return options;
}

Result<warc::WriterOptions> CompressionOf(const Arguments& arguments,
                                          record::Compression fallback) {
  warc::WriterOptions options;
  options.compression = fallback;
  if (const std::optional<std::string> name = arguments.Get("--compression")) {
    if (*name == "gzip") {
      options.compression = record::Compression::kGzip;
    } else if (*name == "zstd") {
      options.compression = record::Compression::kZstd;
    } else if (*name == "none") {
      options.compression = record::Compression::kNone;
    } else {
      return Error{ErrorCode::kInvalid,
                   fmt::format("--compression {} is none of gzip, zstd, none", *name)};
    }
  }
  options.level = options.compression == record::Compression::kZstd ? 9 : 6;
  if (const std::optional<std::string> text = arguments.Get("--level")) {
    const std::optional<std::uint64_t> level = ParseDecimal(*text);
    const bool zstd = options.compression == record::Compression::kZstd;
    if (!level || *level > (zstd ? 19u : 12u) || (zstd && *level == 0)) {
      return Error{ErrorCode::kInvalid, fmt::format("--level {} is no level of {}", *text,
                                                    zstd ? "zstd, 1 to 19" : "gzip, 0 to 12")};
    }
    options.level = static_cast<int>(*level);
  }
  return options;
}

std::string_view WithoutCompressionSuffix(std::string_view name) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (name.ends_with(suffix) && name.size() > suffix.size()) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return name;
}

std::string_view CompressionSuffix(record::Compression compression) {
  switch (compression) {
    case record::Compression::kGzip:
      return ".gz";
    case record::Compression::kZstd:
      return ".zst";
    case record::Compression::kNone:
      break;
  }
  return "";
}

std::string_view Stem(std::string_view name) {
  name = WithoutCompressionSuffix(name);
  for (const std::string_view suffix : {".warc", ".arc", ".tw", ".tianwang"}) {
    if (name.ends_with(suffix) && name.size() > suffix.size()) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return name;
}

std::string WarcName(std::string_view name, record::Compression compression) {
  return fmt::format("{}.warc{}", Stem(name), CompressionSuffix(compression));
}

Status WriteCopy(const record::Record& record, const HeldBlock& block, warc::WarcWriter& writer) {
  const std::string_view separator = record.format == record::Format::kWarc ? "\r\n\r\n" : "\n";
  if (const Status begun = writer.BeginCopy(record.head, block.size(), separator); !begun) {
    return begun;
  }
  return PutBlock(block, writer);
}

Status WriteRecord(const warc::FieldList& fields, const HeldBlock& block,
                   warc::WarcWriter& writer) {
  if (const Status begun = writer.Begin(fields, block.size()); !begun) return begun;
  return PutBlock(block, writer);
}

}  // namespace stele::cli
