#include <algorithm>
#include <array>

#include "codec/gzip_codec.h"
#include "dedup/document_reader.h"
#include "formats/crawl_log/duplicate.h"
#include "formats/crawl_log/line.h"
#include "io/stream.h"
#include "util/digest.h"

namespace stele::dedup {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

std::optional<catalog::Sha1Bytes> Sha1Of(std::string_view text) {
  std::optional<Digest> digest = Digest::Parse(text);
  // Old logs have it without its name.
  if (!digest) digest = Digest::Parse("sha1:" + std::string(text));
  if (!digest || digest->algorithm() != DigestAlgorithm::kSha1) return std::nullopt;
  catalog::Sha1Bytes bytes;
  std::copy(digest->bytes().begin(), digest->bytes().end(), bytes.begin());
  return bytes;
}

// "lenTrunc", "timeTrunc" and the like.
bool IsCutOff(const crawl_log::Line& line) {
  const std::vector<std::string_view> words = line.AnnotationList();
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return word.ends_with("Trunc"); });
}

// What gzip made small: one member, or some after each other.
class UnzippedSource final : public io::Source {
 public:
  UnzippedSource(std::unique_ptr<io::ReadableFile> file, std::string path)
      : path_(std::move(path)),
        packed_(std::move(file)),
        decoder_(codec::GzipCodec().NewDecoder()) {}

  Result<std::size_t> Read(std::span<char> out) override {
    for (;;) {
      if (in_.empty()) {
        const Result<std::size_t> read = packed_.Read(piece_);
        if (!read) return read;
        in_ = std::string_view(piece_).substr(0, *read);
      }
      if (in_.empty() && is_whole_) return std::size_t{0};
      if (is_whole_) decoder_->Reset();
      const Result<codec::Progress> step = decoder_->Decode(in_, out);
      if (!step) return Error{step.error().code, path_ + ": " + step.error().text};
      const bool is_cut_off = in_.empty() && step->produced == 0 && !step->done;
      if (is_cut_off) return Error{ErrorCode::kCorrupt, path_ + " is cut off"};
      in_.remove_prefix(step->consumed);
      is_whole_ = step->done;
      if (step->produced > 0) return step->produced;
    }
  }

 private:
  const std::string path_;
  io::FileSource packed_;
  const std::unique_ptr<codec::Decoder> decoder_;
  std::string piece_ = std::string(kReadBytes, '\0');
  std::string_view in_;    // of piece_, not yet decoded
  bool is_whole_ = false;  // the member that was read last
};

class CrawlLogReader final : public DocumentReader {
 public:
  explicit CrawlLogReader(std::unique_ptr<io::Source> source) : source_(std::move(source)) {}

  Result<CrawledDocument*> Next() override {
    for (;;) {
      if (reader_ == nullptr) {
        Result<bool> more = Fill();
        if (!more) return more.error();
        if (!*more) return nullptr;
      }
      std::optional<Result<crawl_log::Line>> line = reader_->Next();
      if (!line) {
        text_.erase(0, reader_->consumed());
        reader_.reset();
        continue;
      }
      if (!*line) {
        ++skipped_;
        continue;
      }
      if (Take(**line)) return &document_;
    }
  }
  std::uint64_t skipped() const override { return skipped_; }

 private:
  // False at the end.
  Result<bool> Fill() {
    if (at_end_) return false;
    const std::size_t before = text_.size();
    text_.resize(before + kReadBytes);
    Result<std::size_t> read = source_->Read(std::span(text_).subspan(before));
    if (!read) return read.error();
    text_.resize(before + *read);
    at_end_ = *read == 0;
    reader_ = std::make_unique<crawl_log::LineReader>(text_, at_end_);
    return true;
  }

  // False: this line is about nothing that could be a duplicate.
  bool Take(const crawl_log::Line& line) {
    const std::optional<int> status = line.StatusCode();
    if (!status || *status <= 0 || line.uri.empty() || IsCutOff(line)) return false;
    const std::optional<catalog::Sha1Bytes> sha1 = Sha1Of(line.digest);
    const std::optional<Timestamp> begun = line.FetchBegin();
    const std::optional<Timestamp> time = begun ? begun : line.LoggedAt();
    if (!sha1 || !time) return false;
    document_ = {};
    document_.status = static_cast<std::uint32_t>(*status);
    document_.length = line.SizeBytes().value_or(0);
    document_.type = line.mime_type;
    KnownDocument& known = document_.known;
    document_.url = known.url = line.uri;
    known.time = known.seen = *time;
    known.digest.sha1 = sha1;
    if (const auto extra = crawl_log::ParseExtra(line.extra)) {
      known.etag = extra->etag;
      known.last_modified = extra->last_modified;
    }
    const std::optional<crawl_log::Duplicate> duplicate = crawl_log::FindDuplicate(line);
    if (!duplicate) return true;
    document_.is_duplicate = true;
    known.origin = duplicate->origin;
    if (!duplicate->original_uri.empty()) known.url = duplicate->original_uri;
    const std::optional<Timestamp> date = duplicate->OriginalDate();
    if (date) known.time = *date;
    document_.is_unresolved = !date && known.origin.empty();
    return true;
  }

  const std::unique_ptr<io::Source> source_;
  std::string text_;
  bool at_end_ = false;
  std::unique_ptr<crawl_log::LineReader> reader_;
  CrawledDocument document_;
  std::uint64_t skipped_ = 0;
};

}  // namespace

Result<std::unique_ptr<DocumentReader>> ReadCrawlLog(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  std::array<char, 2> begin = {};
  const Result<std::size_t> read = (*file)->ReadAt(0, begin);
  if (!read) return read.error();
  std::unique_ptr<io::Source> source;
  if (begin == std::array{'\x1f', '\x8b'}) {
    source = std::make_unique<UnzippedSource>(*std::move(file), path);
  } else {
    source = std::make_unique<io::FileSource>(*std::move(file));
  }
  return std::unique_ptr<DocumentReader>(std::make_unique<CrawlLogReader>(std::move(source)));
}

}  // namespace stele::dedup
