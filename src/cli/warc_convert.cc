#include <fmt/format.h>

#include <map>
#include <mutex>

#include "cli/record_selection.h"
#include "cli/rewriting.h"
#include "cli/warc_commands.h"
#include "cli/warc_conversion.h"
#include "formats/tianwang/tianwang_writer.h"
#include "formats/warc/segments.h"

namespace stele::cli {
namespace {

using record::Record;
using record::RecordType;

// What a target format could not take, over all files. Thread-safe.
class Remarks {
 public:
  void Add(const std::string& what, std::uint64_t count = 1) {
    if (count == 0) return;
    const std::lock_guard lock(mutex_);
    counts_[what] += count;
  }
  void Say(Context& context) const {
    for (const auto& [what, count] : counts_) Complain(context, fmt::format("{} {}", count, what));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
};

class ToWarc final : public Rewriting {
 public:
  ToWarc(Context& context, LockedRandom& random, const RewriteTarget& target,
         std::unique_ptr<warc::WarcWriter> writer, Remarks& remarks)
      : context_(context),
        reading_(target.reading),
        writer_(std::move(writer)),
        conversion_(random, context.clock, target.name, *writer_),
        remarks_(remarks) {}

  Result<ExitCode> Add(FileJob& job) override {
    Result<std::unique_ptr<WholeRecords>> opened = WholeRecords::Open(context_, job, reading_);
    if (!opened) return opened.error();
    WholeRecords& records = **opened;
    conversion_.BeginFile(job.path);
    const std::uint64_t undated = conversion_.undated();
    for (;;) {
      Result<const Record*> record = records.Next();
      if (!record) return record.error();
      if (*record == nullptr) break;
      if (const Status converted = Convert(**record, records); !converted) {
        return converted.error();
      }
    }
    remarks_.Add("records have no date that can be read: they got that of the record before",
                 conversion_.undated() - undated);
    return records.Report();
  }

 private:
  Status Convert(const Record& record, WholeRecords& records) {
    if (record.format != record::Format::kWarc) {
      PeekedBlock block(records.reader(), record);
      const Result<bool> converted = conversion_.Convert(record, block, records);
      return converted ? Status() : converted.error();
    }
    const Result<bool> whole = records.HoldStored();
    if (!whole) return whole.error();
    return *whole ? WriteCopy(record, records.block(), *writer_) : Status();
  }

  Context& context_;
  WholeRecords::Options reading_;
  std::unique_ptr<warc::WarcWriter> writer_;
  WarcConversion conversion_;
  Remarks& remarks_;
};

class ToTianwang final : public Rewriting {
 public:
  ToTianwang(Context& context, const RewriteTarget& target, bool compress, Remarks& remarks)
      : context_(context),
        reading_(target.reading),
        writer_(target.sink),
        compress_(compress),
        remarks_(remarks) {}

  Result<ExitCode> Add(FileJob& job) override {
    Result<std::unique_ptr<WholeRecords>> opened = WholeRecords::Open(context_, job, reading_);
    if (!opened) return opened.error();
    WholeRecords& records = **opened;
    for (;;) {
      Result<const Record*> record = records.Next();
      if (!record) return record.error();
      if (*record == nullptr) return records.Report();
      if (const std::optional<std::string> why = WhyNot(**record)) {
        remarks_.Add(*why);
        continue;
      }
      PeekedBlock block(records.reader(), **record);
      Result<bool> whole = records.Hold([&] { return block.Read(); });
      if (!whole) return whole.error();
      if (!*whole) continue;
      if (const Status put = Put(**record, records.block()); !put) return put.error();
    }
  }

 private:
  // Why a record is no page; nothing when it is one.
  static std::optional<std::string> WhyNot(const Record& record) {
    if (record.type != RecordType::kResponse && record.type != RecordType::kResource) {
      return fmt::format("{} records were left out: Tianwang has only pages",
                         record::RecordTypeName(record.type));
    }
    if (warc::BeginsSegments(record)) {
      return "records were left out because they are cut into segments";
    }
    if (record.target_uri.empty()) return "records were left out because they have no URL";
    if (!record.date) return "records were left out because they have no date that can be read";
    return std::nullopt;
  }

  Status Put(const Record& record, const HeldBlock& block) {
    tianwang::Page page;
    page.url = record.target_uri;
    page.time = *record.date;
    page.ip = record.fields.Find("WARC-IP-Address").value_or("");
    page.origin = record.fields.Find("Tianwang-Origin").value_or("");
    Status put;
    if (compress_ && block.in_memory()) {
      page.compress = true;
      put = block.size() == 0
                ? Write(page, "")
                : block.ForEach([&](std::string_view data) { return Write(page, data); });
    } else {
      put = writer_.Begin(page, block.size());
      if (put) put = block.ForEach([&](std::string_view piece) { return writer_.Append(piece); });
      if (put) put = Done(writer_.End());
    }
    if (!put && put.error().code == ErrorCode::kInvalid) {
      remarks_.Add("records were left out because Tianwang cannot hold their URL, date or address");
      return {};
    }
    return put;
  }

  Status Write(tianwang::Page& page, std::string_view data) {
    page.data = data;
    return Done(writer_.Write(page));
  }
  static Status Done(const Result<record::Extent>& written) {
    return written ? Status() : written.error();
  }

  Context& context_;
  WholeRecords::Options reading_;
  tianwang::Writer writer_;
  const bool compress_;
  Remarks& remarks_;
};

ExitCode Refuse(Context& context, std::string_view text) {
  Complain(context, text);
  return ExitCode::kUsage;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  const std::string to = arguments.Get("--to").value_or("");
  if (to != "warc" && to != "tianwang") return Refuse(context, "--to must be warc or tianwang");
  const bool warc = to == "warc";
  if (warc && arguments.Has("--compress")) {
    return Refuse(context, "--compress is for Tianwang; WARC has --compression");
  }
  if (!warc && (arguments.Has("--compression") || arguments.Has("--level"))) {
    return Refuse(context, "--compression and --level are for WARC; Tianwang has --compress");
  }
  const Result<warc::WriterOptions> wanted = CompressionOf(arguments, record::Compression::kGzip);
  if (!wanted) return Refuse(context, wanted.error().text);
  LockedRandom random(context.random);
  Remarks remarks;
  RewriteCommand command;
  command.output_name = [&](std::string_view name) {
    return warc ? WarcName(name, wanted->compression) : std::string(Stem(name)) + ".tw";
  };
  command.begin = [&](const RewriteTarget& target) -> Result<std::unique_ptr<Rewriting>> {
    if (!warc) {
      return std::unique_ptr<Rewriting>(
          std::make_unique<ToTianwang>(context, target, arguments.Has("--compress"), remarks));
    }
    auto writer = warc::WarcWriter::Create(target.sink, *wanted);
    if (!writer) return writer.error();
    return std::unique_ptr<Rewriting>(
        std::make_unique<ToWarc>(context, random, target, *std::move(writer), remarks));
  };
  const ExitCode code = RunRewriting(arguments, context, command);
  if (code <= ExitCode::kDefects && !arguments.Has("--quiet") && !arguments.Has("--json"))
    remarks.Say(context);
  return code;
}

}  // namespace

Command WarcConvertCommand() {
  Command command;
  command.name = "convert";
  command.summary = "Turn ARC and Tianwang files into WARC, or anything into Tianwang";
  command.details =
      "To WARC 1.1: each file begins with a warcinfo record made from the ARC's own description; "
      "blocks with an HTTP head become response records, others resource records, with dates, "
      "addresses, new record ids and SHA-1 digests of block and payload. What WARC has no field "
      "for keeps its name (ARC-Checksum, Tianwang-Origin). Records that are WARC already are "
      "copied as they are.\n\nTo Tianwang 1.0: response and resource records with URL, date, "
      "address and data. Other records are left out; how many is said at the end. With --compress, "
      "data beyond 4 MB stays as it is.\n\nRecords that are damaged are left out and named; the "
      "exit code is then 1. A record is written when all of it has been read: large ones are kept "
      "in a temporary file beside the output until then.";
  command.arguments = "FILE...";
  command.options = WithRewriteOptions(
      WithCompressionOptions({{"--to", "FORMAT", "warc or tianwang"},
                              {"--compress", "", "For Tianwang: compress the data of each page"}}));
  command.examples = {
      {"stele warc convert --to warc --directory warc/ *.arc.gz", "A WARC for each ARC"},
      {"stele warc convert --to tianwang x.warc.gz --output x.tw", "For older tools"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
