#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "archive/index_line.h"
#include "archive/tianwang_export.h"
#include "archive/wacz_export.h"
#include "archive/warc_export.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/counter.h"
#include "cli/file_jobs.h"
#include "cli/output.h"
#include "cli/temporary_folder.h"
#include "cli/url_selection.h"
#include "formats/cdx/cdx.h"
#include "formats/url/public_suffix.h"
#include "formats/url/url.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

enum class ExportFormat { kWarc, kWacz, kTianwang, kCdxj };

// Of names, what other formats end with: a file that is called so is expected to be one.
constexpr std::array<std::string_view, 23> kOtherEndings = {
    ".cdx", ".cdx.gz", ".cdxj.gz", ".zip",     ".json",     ".jsonl", ".txt", ".html",
    ".htm", ".mhtml",  ".csv",     ".tsv",     ".xml",      ".pdf",   ".tar", ".tar.gz",
    ".tgz", ".arc",    ".arc.gz",  ".warc.xz", ".warc.bz2", ".tw.gz", ".7z"};

// Errors: kInvalid for a name by which something else is expected.
Status CheckEnding(const std::string& output) {
  for (const std::string_view ending : kOtherEndings) {
    if (!output.ends_with(ending)) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: {} files are not written; end the name with .warc.gz, .warc, "
                             ".warc.zst, .wacz, .tw or .cdxj, or say --format",
                             output, ending)};
  }
  return {};
}

// By name, else by the end of the file's name. Errors: kInvalid.
Result<ExportFormat> FormatOf(const Arguments& arguments, const std::string& output) {
  const bool is_named = arguments.Has("--format") || arguments.Has("--per-site");
  const Status checked = is_named ? Status() : CheckEnding(output);
  if (!checked) return checked.error();
  const std::string name = arguments.Get("--format")
                               .value_or(output.ends_with(".cdxj")   ? "cdxj"
                                         : output.ends_with(".wacz") ? "wacz"
                                         : output.ends_with(".tw")   ? "tianwang"
                                                                     : "warc");
  if (name == "warc") return ExportFormat::kWarc;
  if (name == "wacz") return ExportFormat::kWacz;
  if (name == "tianwang") return ExportFormat::kTianwang;
  if (name == "cdxj") return ExportFormat::kCdxj;
  return Error{ErrorCode::kInvalid,
               fmt::format("--format {} is none of warc, wacz, tianwang, cdxj", name)};
}

// A capture that is to be written: file after file, in each in the order in which containers are
// read best.
struct Chosen {
  std::uint32_t site = 0;  // of several files, which
  catalog::CapturePlace place;
  catalog::CaptureId id;
};

// "example.org" for all hosts below it; what has none is "other".
std::string SiteOf(std::string_view text) {
  const Result<url::Url> parsed = url::Parse(text);
  if (!parsed) return "other";
  const std::string host(parsed->host());
  const std::string_view site = url::RegisteredDomain(host);
  std::string name(site.empty() ? std::string_view(host) : site);
  std::erase_if(name, [](char c) { return c == '/' || c == '[' || c == ']'; });
  return name.empty() ? "other" : name;
}

Result<std::vector<Chosen>> Choose(const archive::ArchiveView& view,
                                   const archive::CaptureQuery& query, bool per_site) {
  std::vector<Chosen> chosen;
  std::map<std::string, std::uint32_t> sites;
  archive::CaptureResults results(view, query);
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    const catalog::Capture& row = (*held)->row;
    std::uint32_t site = 0;
    if (per_site) {
      const auto number = static_cast<std::uint32_t>(sites.size());
      site = sites.emplace(SiteOf(row.url), number).first->second;
    }
    chosen.push_back({site, row.place, row.id});
  }
  std::sort(chosen.begin(), chosen.end(), [](const Chosen& a, const Chosen& b) {
    return std::tuple(a.site, a.place.container, a.place.offset) <
           std::tuple(b.site, b.place.container, b.place.offset);
  });
  return chosen;
}

// One file that is being written.
class Target {
 public:
  virtual ~Target() = default;
  // Errors: those of the exports.
  virtual Status Add(const catalog::HeldCapture& capture) = 0;
  // After the last Add(). The file is complete then, under a name for the time being.
  virtual Result<std::unique_ptr<OutputFile>> Finish() = 0;
  // Sentences about what is not as it was asked for, and how often.
  virtual std::map<std::string, std::uint64_t> Remarks() const = 0;
};

Result<std::unique_ptr<OutputFile>> Closed(std::unique_ptr<OutputFile> file) {
  if (const Status closed = file->Close(); !closed) return closed.error();
  return file;
}

constexpr const char* kUnresolved =
    "revisits repeat captures that are not in this archive, and were written as revisits";

std::map<std::string, std::uint64_t> RemarksOf(std::uint64_t unresolved) {
  if (unresolved == 0) return {};
  return {{kUnresolved, unresolved}};
}

class WarcTarget final : public Target {
 public:
  static Result<std::unique_ptr<Target>> Begin(Context& context, const archive::ArchiveView& view,
                                               std::unique_ptr<OutputFile> file,
                                               const std::string& name, bool keep_revisits) {
    archive::ExportOptions options;
    options.keep_revisits = keep_revisits;
    if (name.ends_with(".warc")) options.compression = record::Compression::kNone;
    if (name.ends_with(".zst")) options.compression = record::Compression::kZstd;
    if (name != "-") options.filename = name.substr(name.rfind('/') + 1);
    auto warc = archive::WarcExport::Begin(view, context.clock, context.random, *file, options);
    if (!warc) return warc.error();
    return std::unique_ptr<Target>(std::make_unique<WarcTarget>(std::move(file), *std::move(warc)));
  }
  WarcTarget(std::unique_ptr<OutputFile> file, std::unique_ptr<archive::WarcExport> warc)
      : file_(std::move(file)), warc_(std::move(warc)) {}

  Status Add(const catalog::HeldCapture& capture) override {
    const Result<archive::ExportedCapture> added = warc_->Add(capture);
    return added ? Status() : added.error();
  }
  Result<std::unique_ptr<OutputFile>> Finish() override { return Closed(std::move(file_)); }
  std::map<std::string, std::uint64_t> Remarks() const override {
    return RemarksOf(warc_->unresolved());
  }

 private:
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<archive::WarcExport> warc_;
};

class WaczTarget final : public Target {
 public:
  static Result<std::unique_ptr<Target>> Begin(Context& context, const archive::ArchiveView& view,
                                               std::unique_ptr<OutputFile> file,
                                               const std::string& name, bool keep_revisits) {
    auto target = std::make_unique<WaczTarget>(std::move(file));
    std::string spool = name + ".warc.part";
    if (name == "-") {
      Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
      if (!folder) return folder.error();
      target->folder_ = *std::move(folder);
      spool = target->folder_->path() + "/data.warc.gz";
    }
    auto wacz = archive::WaczExport::Begin(
        view, context.clock, context.random, spool,
        {.keep_revisits = keep_revisits, .software = "Stele " STELE_VERSION});
    if (!wacz) return wacz.error();
    target->wacz_ = *std::move(wacz);
    return std::unique_ptr<Target>(std::move(target));
  }
  explicit WaczTarget(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  Status Add(const catalog::HeldCapture& capture) override {
    const Result<archive::ExportedCapture> added = wacz_->Add(capture);
    return added ? Status() : added.error();
  }
  Result<std::unique_ptr<OutputFile>> Finish() override {
    if (const Status done = wacz_->Finish(*file_); !done) return done.error();
    return Closed(std::move(file_));
  }
  std::map<std::string, std::uint64_t> Remarks() const override {
    return RemarksOf(wacz_->unresolved());
  }

 private:
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<TemporaryFolder> folder_;  // for what goes to the standard output
  std::unique_ptr<archive::WaczExport> wacz_;
};

class TianwangTarget final : public Target {
 public:
  TianwangTarget(const archive::ArchiveView& view, std::unique_ptr<OutputFile> file)
      : file_(std::move(file)), pages_(view, *file_) {}

  Status Add(const catalog::HeldCapture& capture) override {
    const Result<bool> added = pages_.Add(capture);
    return added ? Status() : added.error();
  }
  Result<std::unique_ptr<OutputFile>> Finish() override { return Closed(std::move(file_)); }
  std::map<std::string, std::uint64_t> Remarks() const override {
    std::map<std::string, std::uint64_t> remarks;
    for (const auto& [why, count] : pages_.left_out()) {
      remarks[fmt::format("captures were left out: they {}", why)] = count;
    }
    if (pages_.cut_off() > 0) {
      remarks["captures are cut off: segments of their records are not in this archive"] =
          pages_.cut_off();
    }
    return remarks;
  }

 private:
  std::unique_ptr<OutputFile> file_;
  archive::TianwangExport pages_;
};

// Writes one file after another, so that one is open at a time. All appear at the end.
class RecordFiles {
 public:
  RecordFiles(const Arguments& arguments, Context& context, const archive::ArchiveView& view,
              std::string output, ExportFormat format)
      : context_(context),
        view_(view),
        format_(format),
        output_(std::move(output)),
        per_site_(arguments.Has("--per-site")),
        keep_revisits_(arguments.Has("--keep-revisits")),
        replace_(arguments.Has("--force")) {}

  Status Add(const catalog::HeldCapture& capture) {
    Result<Target*> target = TargetOf(capture.row);
    if (!target) return target.error();
    const Status exported = (*target)->Add(capture);
    if (exported) {
      ++captures_;
      return {};
    }
    // What is damaged or away is left out, and the rest goes on.
    if (exported.error().code != ErrorCode::kCorrupt &&
        exported.error().code != ErrorCode::kNotFound) {
      return exported.error();
    }
    Complain(context_, fmt::format("{} of {} is left out: {}", capture.row.url,
                                   FormatIso(capture.row.time), exported.error().text));
    ++damaged_;
    return {};
  }

  Status Commit() {
    if (const Status finished = FinishTarget(); !finished) return finished;
    for (const std::unique_ptr<OutputFile>& file : finished_) {
      if (const Status done = file->Commit(); !done) return done;
    }
    return {};
  }

  ExitCode Report(bool quiet) {
    if (!quiet) {
      static_cast<void>(context_.err.Write(
          fmt::format("{} in {}\n", Count(captures_, "capture"), Count(finished_.size(), "file"))));
    }
    for (const auto& [what, count] : remarks_)
      Complain(context_, fmt::format("{} {}", count, what));
    return damaged_ > 0 || !remarks_.empty() ? ExitCode::kDefects : ExitCode::kDone;
  }

 private:
  Result<Target*> TargetOf(const catalog::Capture& row) {
    const std::string name =
        per_site_ ? fmt::format("{}/{}{}", output_, SiteOf(row.url), Ending()) : output_;
    if (target_ != nullptr && name == name_) return target_.get();
    if (const Status finished = FinishTarget(); !finished) return finished.error();
    if (per_site_) {
      if (const Status made = context_.fs.MakeDirectory(output_); !made) return made.error();
    }
    Result<std::unique_ptr<OutputFile>> file = OutputFile::Create(context_, name, replace_);
    if (!file) return file.error();
    Result<std::unique_ptr<Target>> target = Begin(name, *std::move(file));
    if (!target) return target.error();
    target_ = *std::move(target);
    name_ = name;
    return target_.get();
  }

  Status FinishTarget() {
    if (target_ == nullptr) return {};
    Result<std::unique_ptr<OutputFile>> file = target_->Finish();
    if (!file) return file.error();
    finished_.push_back(*std::move(file));
    for (const auto& [what, count] : target_->Remarks()) remarks_[what] += count;
    target_ = nullptr;
    return {};
  }

  Result<std::unique_ptr<Target>> Begin(const std::string& name, std::unique_ptr<OutputFile> file) {
    if (format_ == ExportFormat::kTianwang) {
      return std::unique_ptr<Target>(std::make_unique<TianwangTarget>(view_, std::move(file)));
    }
    const auto begin = format_ == ExportFormat::kWacz ? &WaczTarget::Begin : &WarcTarget::Begin;
    return begin(context_, view_, std::move(file), name, keep_revisits_);
  }

  std::string_view Ending() const {
    if (format_ == ExportFormat::kWacz) return ".wacz";
    return format_ == ExportFormat::kTianwang ? ".tw" : ".warc.gz";
  }

  Context& context_;
  const archive::ArchiveView& view_;
  const ExportFormat format_;
  const std::string output_;
  const bool per_site_;
  const bool keep_revisits_;
  const bool replace_;
  std::string name_;  // of the target
  std::unique_ptr<Target> target_;
  std::vector<std::unique_ptr<OutputFile>> finished_;
  std::map<std::string, std::uint64_t> remarks_;
  std::uint64_t captures_ = 0;
  std::uint64_t damaged_ = 0;
};

ExitCode ExportRecords(const Arguments& arguments, Context& context,
                       const archive::ArchiveView& view, const archive::CaptureQuery& query,
                       const std::string& output, ExportFormat format) {
  Result<std::vector<Chosen>> chosen = Choose(view, query, arguments.Has("--per-site"));
  if (!chosen) return Fail(context, chosen.error());
  if (chosen->empty()) {
    Complain(context,
             fmt::format("there is no such capture; nothing was written{}",
                         query.batches.empty() ? "" : ". stele batch ls lists the months"));
    return ExitCode::kFailed;
  }
  RecordFiles files(arguments, context, view, output, format);
  Counter counter(context, ShowsProgress(arguments, context), "captures", chosen->size());
  std::uint64_t done = 0;
  for (const Chosen& capture : *chosen) {
    Result<catalog::HeldCapture> held = view.catalog().Get(capture.id);
    if (!held) return Fail(context, held.error());
    if (const Status added = files.Add(*held); !added) return Fail(context, added.error());
    counter.Show(++done);
  }
  if (const Status done_all = files.Commit(); !done_all) return Fail(context, done_all.error());
  return files.Report(arguments.Has("--quiet"));
}

// The files of an archive by names of which each is that of one: "x.warc.gz"; where several are
// called so, "00000007/x.warc.gz" as in their volume, and the path of those that are elsewhere.
class ContainerNames {
 public:
  explicit ContainerNames(const archive::Holdings& holdings) : holdings_(holdings) {
    for (const auto* containers : {&holdings.containers(), &holdings.open_containers()}) {
      for (const auto& [number, container] : *containers) ++counts_[container.name];
    }
  }
  std::string Of(std::uint32_t number) const {
    const archive::Container* container = holdings_.Find(number);
    if (container == nullptr) container = holdings_.FindOpen(number);
    if (container == nullptr) return "";
    if (counts_.at(container->name) == 1) return container->name;
    return container->path.empty() ? fmt::format("{:08}/{}", number, container->name)
                                   : container->path;
  }

 private:
  const archive::Holdings& holdings_;
  std::map<std::string, std::uint32_t> counts_;
};

ExitCode ExportCdxj(const Arguments& arguments, Context& context, const archive::ArchiveView& view,
                    const archive::CaptureQuery& query, const std::string& output) {
  auto file = OutputFile::Create(context, output, arguments.Has("--force"));
  if (!file) return Fail(context, file.error());
  const ContainerNames names(view.holdings());
  archive::CaptureResults results(view, query);
  bool any = false;
  for (;;) {
    Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return Fail(context, held.error());
    if (*held == nullptr) break;
    any = true;
    const catalog::Capture& row = (*held)->row;
    const std::string name = names.Of(row.place.container);
    const cdx::Capture line = archive::IndexLineOf(row, results.key(), row.place, name);
    const Status written = (*file)->Write(cdx::FormatCdxjLine(line) + '\n');
    if (!written) return Fail(context, written.error());
  }
  if (!any && !arguments.Has("--quiet")) Complain(context, "nothing matches");
  const Status committed = (*file)->Commit();
  return committed ? ExitCode::kDone : Fail(context, committed.error());
}

ExitCode Run(const Arguments& arguments, Context& context) {
  if (arguments.positionals.size() != 1) {
    Complain(context, "Where to? Name one file, or - for the standard output.");
    return ExitCode::kUsage;
  }
  const std::string& output = arguments.positionals[0];
  Result<ExportFormat> format = FormatOf(arguments, output);
  if (!format) return Fail(context, format.error());
  if (arguments.Has("--per-site") && (*format == ExportFormat::kCdxj || output == "-")) {
    Complain(context, "--per-site writes WARC, WACZ or Tianwang files to a directory; name one");
    return ExitCode::kUsage;
  }
  Arguments selection = arguments;
  selection.positionals = arguments.GetAll("--url");
  const Result<Arguments> whole = WithWholeUrls(std::move(selection), context);
  if (!whole) return Fail(context, whole.error());
  Result<archive::CaptureQuery> query = CaptureQueryOf(*whole, whole->positionals);
  if (!query) return Fail(context, query.error());
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  if (const Status checked = CheckNamed(*query, view); !checked) {
    return Fail(context, checked.error());
  }
  return *format == ExportFormat::kCdxj
             ? ExportCdxj(arguments, context, view, *query, output)
             : ExportRecords(arguments, context, view, *query, output, *format);
}

}  // namespace

Command ExportCommand() {
  Command command;
  command.name = "export";
  command.summary = "Write captures to a WARC or WACZ file that replays alone, or to an index";
  command.details =
      "Each capture goes out with its request and what the crawler noted about it. In place of a "
      "revisit, which only names an earlier capture, the whole record is written, so that the file "
      "needs no other; --keep-revisits leaves them as they are. Payloads are compared with their "
      "digests on the way; what is damaged, or cannot be reached, is left out and named, and the "
      "exit code is 1.\n\nThe "
      "format follows from the file's name: .warc.gz, .warc, .warc.zst, .wacz for ReplayWeb.page, "
      "with an index and a list of pages, .tw for Tianwang, or .cdxj for the index lines of the "
      "archive's own files.";
  command.arguments = "FILE";
  command.options = WithArchiveOption(WithCaptureOptions(
      {Repeatable({"--url", "URL", "Captures of this URL"}),
       {"--format", "FORMAT", "warc, wacz, tianwang or cdxj", "by the file's name, else warc"},
       {"--keep-revisits", "", "Write revisits as they are"},
       {"--per-site", "", "FILE is a directory: one file for each registered domain"},
       {"--force", "", "Replace FILE if it exists"},
       {"--quiet", "", "No progress and no summary"}}));
  command.examples = {
      {"stele export --run 2 out.warc.gz", "What the second run brought"},
      {"stele export --domain example.org --to 2014 --per-site old/", "A file for each site"},
      {"stele export --host example.org site.wacz", "For ReplayWeb.page"},
      {"stele export all.cdxj", "The index of everything, for pywb"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
