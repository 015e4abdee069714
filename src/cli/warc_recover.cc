#include <fmt/format.h>

#include <atomic>

#include "cli/rewriting.h"
#include "cli/warc_commands.h"
#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"
#include "formats/record/digest_checker.h"

namespace stele::cli {
namespace {

using record::Defect;
using record::Loss;
using record::Record;

struct Totals {
  std::atomic<std::uint64_t> records = 0;
  std::atomic<std::uint64_t> places = 0;
  std::atomic<std::uint64_t> bytes = 0;
};

// Some writers computed payload digests over other bytes than the standard says. A record is not
// damaged because of that.
Result<bool> IsDigestOfOtherBytes(const Record& record, const HeldBlock& block,
                                  std::uint64_t head_length) {
  const std::optional<Digest> claim =
      Digest::Parse(record.fields.Find("WARC-Payload-Digest").value_or(""));
  if (!claim) return false;
  for (const std::uint64_t from : {head_length, std::uint64_t{0}}) {
    Hasher hasher(claim->algorithm());
    const Status read = block.ForEach(
        [&](std::string_view piece) {
          hasher.Update(piece);
          return Status();
        },
        from);
    if (!read) return read.error();
    if (hasher.Finish() == *claim) return true;
  }
  return false;
}

// What decompressing a block that its format stores compressed says against it.
Result<std::optional<std::string>> StoredDamage(const Record& record, const HeldBlock& block) {
  if (record.block_coding == record::BlockCoding::kNone) return std::optional<std::string>();
  const bool gzip = record.block_coding == record::BlockCoding::kGzip;
  const std::unique_ptr<codec::Decoder> decoder =
      gzip ? codec::GzipCodec().NewDecoder() : codec::DeflateCodec().NewDecoder();
  std::string out(64 * 1024, '\0');
  std::uint64_t size = 0;
  bool done = false;
  std::optional<std::string> damage;
  const Status read = block.ForEach([&](std::string_view in) {
    while (!damage && !done) {
      Result<codec::Progress> step = decoder->Decode(in, out);
      if (!step) {
        damage = step.error().text;
        break;
      }
      in.remove_prefix(step->consumed);
      size += step->produced;
      done = step->done;
      if (in.empty() && step->produced < out.size()) break;
    }
    return Status();
  });
  if (!read) return read.error();
  if (!damage && !done) damage = "the compressed data is cut off";
  if (!damage && !gzip && record.decoded_length && size != *record.decoded_length) {
    damage = fmt::format("the compressed data has {} bytes, not {}", size, *record.decoded_length);
  }
  return damage;
}

class Recovering final : public Rewriting {
 public:
  Recovering(const Arguments& arguments, Context& context, const RewriteTarget& target,
             Totals& totals)
      : arguments_(arguments),
        context_(context),
        sink_(target.sink),
        reading_(target.reading),
        totals_(totals) {}

  Result<ExitCode> Add(FileJob& job) override {
    Result<std::unique_ptr<WholeRecords>> opened = WholeRecords::Open(context_, job, reading_);
    if (!opened) return opened.error();
    WholeRecords& records = **opened;
    if (const Status ready = Prepare(records.reader()); !ready) return ready.error();
    for (;;) {
      Result<const Record*> record = records.Next();
      if (!record) return record.error();
      if (*record == nullptr) return Report(records);
      Result<bool> good = IsGood(**record, records);
      if (!good) return good.error();
      if (!*good) continue;
      if (const Status put = WriteCopy(**record, records.block(), *writer_); !put) {
        return put.error();
      }
      ++totals_.records;
    }
  }

 private:
  // The output is what the input was, unless something else was asked for.
  Status Prepare(const record::RecordReader& reader) {
    if (writer_ != nullptr) {
      if (format_ == reader.format()) return {};
      return Error{ErrorCode::kInvalid,
                   "the files have different formats: write them to a --directory"};
    }
    format_ = reader.format();
    Result<warc::WriterOptions> options = CompressionOf(arguments_, reader.compression());
    if (!options) return options.error();
    Result<std::unique_ptr<warc::WarcWriter>> writer =
        warc::WarcWriter::Create(sink_, *std::move(options));
    if (!writer) return writer.error();
    writer_ = *std::move(writer);
    return {};
  }

  Result<bool> IsGood(const Record& record, WholeRecords& records) {
    digests_.Begin(record);
    Result<bool> whole = records.HoldStored([&](std::string_view piece) { digests_.Feed(piece); });
    if (!whole) return whole;
    digests_.Feed({});  // the last piece is gone by now
    std::vector<Defect> found;
    digests_.Finish(found);
    if (!*whole) return false;
    Result<std::optional<std::string>> damage = StoredDamage(record, records.block());
    if (!damage) return damage.error();
    if (*damage) return records.KeepsDespite(**std::move(damage));
    for (const Defect& defect : found) {
      if (defect.rule == "block-digest") return records.KeepsDespite(defect.text);
    }
    const std::optional<std::string_view> block_digest = record.fields.Find("WARC-Block-Digest");
    if (block_digest && Digest::Parse(*block_digest)) return true;  // and it was right
    for (const Defect& defect : found) {
      if (defect.rule != "payload-digest") continue;
      Result<bool> other =
          IsDigestOfOtherBytes(record, records.block(), digests_.payload().head_length());
      if (!other) return other.error();
      if (!*other) return records.KeepsDespite(defect.text);
    }
    return true;
  }

  ExitCode Report(const WholeRecords& records) {
    for (const Loss& loss : records.Losses()) {
      ++totals_.places;
      totals_.bytes += loss.end - loss.begin;
    }
    return records.Report();
  }

  const Arguments& arguments_;
  Context& context_;
  io::Sink& sink_;
  WholeRecords::Options reading_;
  Totals& totals_;
  record::DigestChecker digests_;
  std::optional<record::Format> format_;
  std::unique_ptr<warc::WarcWriter> writer_;
};

ExitCode Run(const Arguments& arguments, Context& context) {
  const Result<warc::WriterOptions> wanted = CompressionOf(arguments, record::Compression::kGzip);
  if (!wanted) {
    Complain(context, wanted.error().text);
    return ExitCode::kUsage;
  }
  Totals totals;
  RewriteCommand command;
  command.output_name = [&](std::string_view name) {
    if (!arguments.Has("--compression")) return std::string(name);
    return std::string(WithoutCompressionSuffix(name)) +
           std::string(CompressionSuffix(wanted->compression));
  };
  command.begin = [&](const RewriteTarget& target) -> Result<std::unique_ptr<Rewriting>> {
    return std::unique_ptr<Rewriting>(
        std::make_unique<Recovering>(arguments, context, target, totals));
  };
  const ExitCode code = RunRewriting(arguments, context, command);
  if (code <= ExitCode::kDefects && !arguments.Has("--quiet") && !arguments.Has("--json")) {
    Complain(context,
             fmt::format("recovered {} records; {} bytes in {} places are lost",
                         totals.records.load(), totals.bytes.load(), totals.places.load()));
  }
  return code;
}

}  // namespace

Command WarcRecoverCommand() {
  Command command;
  command.name = "recover";
  command.summary = "Save the undamaged records of a damaged archive file";
  command.details =
      "Copies every record that can be read whole, byte by byte, and whose digests are right where "
      "it has any. What is lost is named on the error output, byte range by byte range, with the "
      "reason; the exit code is then 1. The first bytes of the file may be destroyed, too.\n\nA "
      "record is written when all of it has been read and verified: large ones are kept in a "
      "temporary file beside the output until then.";
  command.arguments = "FILE...";
  command.options = WithRewriteOptions(WithCompressionOptions({}, "that of the file"));
  command.examples = {
      {"stele warc recover broken.warc.gz --output good.warc.gz", "Save what can be saved"},
      {"stele warc recover --json broken.arc --output good.arc 2>lost.json", "For programs"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
