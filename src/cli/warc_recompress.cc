#include <fmt/format.h>

#include <algorithm>

#include "cli/rewriting.h"
#include "cli/warc_commands.h"
#include "codec/zstd_codec.h"
#include "formats/archive_file/archive_file.h"

namespace stele::cli {
namespace {

constexpr std::size_t kDictionaryBytes = 112 * 1024;
constexpr std::size_t kDictionaryBytesLeast = 2048;
constexpr std::size_t kSampleBytesPerDictionaryByte = 20;
constexpr std::size_t kDictionaryFileBytesMax = 8 << 20;
constexpr std::size_t kSamplesMax = 1000;
constexpr std::size_t kSampleBytesMax = 12 * 1024;

// A sample of the records that come by, each as likely to be in it as any other; the same for the
// same records.
class Samples {
 public:
  // Where the next record goes; nothing when it is not in the sample.
  std::string* Place() {
    ++seen_;
    if (samples_.size() < kSamplesMax) return &samples_.emplace_back();
    const std::uint64_t at = dice_.Next() % seen_;
    if (at >= samples_.size()) return nullptr;
    samples_[at].clear();
    return &samples_[at];
  }
  std::vector<std::string_view> views() const { return {samples_.begin(), samples_.end()}; }

 private:
  io::SeededRandom dice_{1};
  std::uint64_t seen_ = 0;
  std::vector<std::string> samples_;
};

Status SampleFile(Context& context, const std::string& path, Samples& samples) {
  auto file = archive_file::ArchiveFile::Open(context.fs, path);
  if (!file) return file.error();
  record::RecordReader& reader = (*file)->reader();
  for (;;) {
    Result<const record::Record*> next = reader.Next();
    if (!next) return next.error();
    if (*next == nullptr) return {};
    std::string* sample = samples.Place();
    if (sample == nullptr) continue;
    *sample = (*next)->head;
    while (sample->size() < kSampleBytesMax) {
      Result<std::string_view> piece = reader.ReadBlock();
      if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
      if (!piece || piece->empty()) break;
      *sample += piece->substr(0, kSampleBytesMax - sample->size());
    }
  }
}

// Errors: kInvalid when the records are too few to learn from.
Result<std::string> Train(Context& context, const std::vector<std::string>& paths) {
  Samples samples;
  for (const std::string& path : paths) {
    if (path == "-") {
      return Error{ErrorCode::kInvalid,
                   "training a dictionary reads the records twice, which a pipe does not allow: "
                   "use --dictionary none or FILE"};
    }
    if (const Status sampled = SampleFile(context, path, samples); !sampled) {
      return Error{sampled.error().code, fmt::format("{}: {}", path, sampled.error().text)};
    }
  }
  // The dictionary is a part of the file, and must earn its place.
  std::size_t total = 0;
  for (const std::string_view sample : samples.views()) total += sample.size();
  const std::size_t size_max = std::min(kDictionaryBytes, total / kSampleBytesPerDictionaryByte);
  if (size_max < kDictionaryBytesLeast) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} bytes of records are too few to train a dictionary on", total)};
  }
  return codec::TrainDictionary(samples.views(), size_max);
}

Result<std::string> DictionaryFor(Context& context, const std::string& wanted,
                                  const std::vector<std::string>& inputs) {
  if (wanted == "none") return std::string();
  if (wanted != "train" && !wanted.empty()) {
    Result<std::string> dictionary = io::ReadFile(context.fs, wanted);
    if (dictionary && dictionary->size() > kDictionaryFileBytesMax) {
      return Error{ErrorCode::kInvalid, fmt::format("the dictionary {} has more than {} bytes",
                                                    wanted, kDictionaryFileBytesMax)};
    }
    return dictionary;
  }
  const bool pipe = std::find(inputs.begin(), inputs.end(), "-") != inputs.end();
  if (wanted.empty() && pipe) return std::string();
  Result<std::string> trained = Train(context, inputs);
  // Few or tiny records need no dictionary.
  if (!trained && trained.error().code == ErrorCode::kInvalid && wanted.empty()) {
    return std::string();
  }
  return trained;
}

class Recompressing final : public Rewriting {
 public:
  Recompressing(Context& context, const RewriteTarget& target,
                std::unique_ptr<warc::WarcWriter> writer)
      : context_(context), reading_(target.reading), writer_(std::move(writer)) {}

  Result<ExitCode> Add(FileJob& job) override {
    Result<std::unique_ptr<WholeRecords>> opened = WholeRecords::Open(context_, job, reading_);
    if (!opened) return opened.error();
    WholeRecords& records = **opened;
    if (format_ && *format_ != records.reader().format()) {
      return Error{
          ErrorCode::kInvalid,
          "the files have different formats: write them to a --directory, or convert them"};
    }
    format_ = records.reader().format();
    for (;;) {
      Result<const record::Record*> record = records.Next();
      if (!record) return record.error();
      if (*record == nullptr) return records.Report();
      Result<bool> whole = records.HoldStored();
      if (!whole) return whole.error();
      if (!*whole) continue;
      if (const Status put = WriteCopy(**record, records.block(), *writer_); !put) {
        return put.error();
      }
    }
  }

 private:
  Context& context_;
  WholeRecords::Options reading_;
  std::unique_ptr<warc::WarcWriter> writer_;
  std::optional<record::Format> format_;
};

ExitCode Run(const Arguments& arguments, Context& context) {
  const Result<warc::WriterOptions> wanted = CompressionOf(arguments, record::Compression::kGzip);
  if (!wanted) {
    Complain(context, wanted.error().text);
    return ExitCode::kUsage;
  }
  const bool zstd = wanted->compression == record::Compression::kZstd;
  const std::string dictionary = arguments.Get("--dictionary").value_or("");
  if (!dictionary.empty() && !zstd) {
    Complain(context, "--dictionary is for --compression zstd");
    return ExitCode::kUsage;
  }
  RewriteCommand command;
  command.output_name = [&](std::string_view name) {
    return std::string(WithoutCompressionSuffix(name)) +
           std::string(CompressionSuffix(wanted->compression));
  };
  command.begin = [&](const RewriteTarget& target) -> Result<std::unique_ptr<Rewriting>> {
    warc::WriterOptions options = *wanted;
    if (zstd) {
      Result<std::string> made = DictionaryFor(context, dictionary, target.inputs);
      if (!made) return made.error();
      options.dictionary = *std::move(made);
    }
    auto writer = warc::WarcWriter::Create(target.sink, std::move(options));
    if (!writer) return writer.error();
    return std::unique_ptr<Rewriting>(
        std::make_unique<Recompressing>(context, target, *std::move(writer)));
  };
  return RunRewriting(arguments, context, command);
}

}  // namespace

Command WarcRecompressCommand() {
  Command command;
  command.name = "recompress";
  command.summary = "Write archive files with another compression, or with a sound one";
  command.details =
      "Copies the records byte by byte, heads and blocks, and compresses each for itself. So it "
      "also mends files that were compressed as a whole, or whose gzip members cut records: every "
      "record of the output can be read alone. WARC stays WARC, ARC stays ARC.\n\nRecords that are "
      "damaged are left out and named; the exit code is then 1. stele warc recover also verifies "
      "digests. A record is written when all of it has been read: large ones are kept in a "
      "temporary file beside the output until then.";
  command.arguments = "FILE...";
  command.options = WithRewriteOptions(WithCompressionOptions(
      {{"--dictionary", "WHICH",
        "For zstd: train one on a sample of the records, none, or the one in a file", "train"}}));
  command.examples = {
      {"stele warc recompress --directory out/ --compression zstd *.warc.gz",
       "A .warc.zst for each file"},
      {"stele warc recompress whole.warc.gz --output good.warc.gz", "One gzip member per record"},
      {"stele warc recompress --compression none x.arc.gz --output x.arc", "Unpack"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
