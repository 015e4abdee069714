#include "formats/archive_file/archive_file.h"

#include <fmt/format.h>

#include <array>

#include "formats/arc/arc_grammar.h"
#include "formats/tianwang/tianwang_grammar.h"
#include "formats/warc/warc_grammar.h"
#include "util/ascii.h"

namespace stele::archive_file {
namespace {

using record::Compression;
using record::Format;
using record::Grammar;
using record::Match;
using record::RecordInput;

std::unique_ptr<Grammar> NewGrammar(Format format) {
  switch (format) {
    case Format::kArc:
      return std::make_unique<arc::ArcGrammar>();
    case Format::kTianwang:
      return std::make_unique<tianwang::TianwangGrammar>();
    case Format::kWarc:
      break;
  }
  return std::make_unique<warc::WarcGrammar>();
}

constexpr std::array<Format, 3> kFormats = {Format::kWarc, Format::kArc, Format::kTianwang};

// The format whose record stands at the reading position.
std::optional<Format> FormatHere(std::string_view bytes) {
  for (const Format format : kFormats) {
    if (NewGrammar(format)->BeginsRecord(bytes) == Match::kYes) return format;
  }
  return std::nullopt;
}

// What a search through a file has found.
struct Found {
  Format format = Format::kWarc;
  std::uint64_t offset = 0;
};

// The format whose record comes first, anywhere in the file.
Result<std::optional<Found>> FormatAnywhere(RecordInput& input) {
  std::optional<Found> best;
  for (const Format format : kFormats) {
    const std::unique_ptr<Grammar> grammar = NewGrammar(format);
    Result<std::optional<std::uint64_t>> found = input.FindRecord(0, *grammar);
    if (!found) return found.error();
    if (*found && (!best || **found < best->offset)) best = Found{format, **found};
  }
  return best;
}

// Finds the first record of a file whose begin says nothing, and sets `input` to read it. A file
// whose first bytes are destroyed does not look compressed any more, so it is searched for members
// too.
Result<std::optional<Format>> Search(io::Source& source, std::unique_ptr<RecordInput>& input) {
  Result<std::optional<Found>> best = FormatAnywhere(*input);
  if (!best) return best.error();
  if (source.file() != nullptr && input->compression() == Compression::kNone) {
    using Opener = Result<std::unique_ptr<RecordInput>> (*)(std::unique_ptr<record::ByteWindow>);
    constexpr std::array<Opener, 2> kOpeners = {
        [](std::unique_ptr<record::ByteWindow> window) -> Result<std::unique_ptr<RecordInput>> {
          return record::NewGzipInput(std::move(window));
        },
        record::NewZstdInput};
    for (const Opener open : kOpeners) {
      Result<std::unique_ptr<RecordInput>> packed =
          open(std::make_unique<record::ByteWindow>(source));
      if (!packed) continue;
      Result<std::optional<Found>> found = FormatAnywhere(**packed);
      if (!found) return found.error();
      if (!*found || (*best && (*best)->offset < (*found)->offset)) continue;
      best = *found;
      input = *std::move(packed);
    }
  }
  if (!*best) return std::optional<Format>();
  if (const Status back = input->SkipTo(0); !back) return back.error();
  return std::optional((*best)->format);
}

std::string Shown(std::string_view bytes) {
  std::string shown;
  for (const char c : bytes.substr(0, 16)) {
    const bool printable = c >= 0x20 && c < 0x7f;
    shown +=
        printable ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown;
}

// Makes the first bytes of the file available; where that fails, the file is damaged there.
Status LookAtBegin(RecordInput& input) {
  for (;;) {
    Result<bool> more = input.More();
    if (more && !*more) more = input.NextMember();
    if (!more) return more.error();
    if (!*more || input.available().size() >= 16) return {};
  }
}

}  // namespace

Result<std::unique_ptr<ArchiveFile>> ArchiveFile::Open(io::FileSystem& fs,
                                                       const std::string& path) {
  if (path == "-") return Open(std::make_unique<io::DescriptorSource>(0), "standard input");
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  return Open(std::make_unique<io::FileSource>(*std::move(file)), path);
}

Result<std::unique_ptr<ArchiveFile>> ArchiveFile::Open(std::unique_ptr<io::Source> source,
                                                       std::string_view name) {
  std::unique_ptr<ArchiveFile> archive(new ArchiveFile());
  archive->source_ = std::move(source);
  if (const io::ReadableFile* file = archive->source_->file()) {
    Result<std::uint64_t> size = file->Size();
    if (!size) return size.error();
    archive->size_ = *size;
  }
  Result<std::unique_ptr<RecordInput>> opened = record::OpenRecordInput(*archive->source_);
  if (!opened) return Error{opened.error().code, fmt::format("{}: {}", name, opened.error().text)};
  std::unique_ptr<RecordInput> input = *std::move(opened);
  const Status looked = LookAtBegin(*input);
  if (!looked && looked.error().code != ErrorCode::kCorrupt) return looked.error();
  archive->empty_ = looked && input->available().empty();
  std::optional<Format> format =
      archive->empty_ ? std::optional(Format::kWarc) : FormatHere(input->available());
  if (!format) {
    const std::string begin = Shown(input->available());
    Result<std::optional<Format>> found = Search(*archive->source_, input);
    if (!found) return found.error();
    if (!*found) {
      return Error{
          ErrorCode::kInvalid,
          fmt::format("{} is no WARC, ARC or Tianwang file: {}", name,
                      looked ? fmt::format("it begins with \"{}\"", begin) : looked.error().text)};
    }
    format = *found;
  }
  archive->reader_ = std::make_unique<record::RecordReader>(std::move(input), NewGrammar(*format));
  return archive;
}

}  // namespace stele::archive_file
