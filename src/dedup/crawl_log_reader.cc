#include <algorithm>

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

class CrawlLogReader final : public DocumentReader {
 public:
  explicit CrawlLogReader(std::unique_ptr<io::ReadableFile> file) : source_(std::move(file)) {}

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
    Result<std::size_t> read = source_.Read(std::span(text_).subspan(before));
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

  io::FileSource source_;
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
  return std::unique_ptr<DocumentReader>(std::make_unique<CrawlLogReader>(*std::move(file)));
}

}  // namespace stele::dedup
