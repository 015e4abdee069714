#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"
#include "util/timestamp.h"

// Lines of Heritrix's crawl.log, read and written: docs/formats/crawl-log.md has the fields.
namespace stele::crawl_log {

// One line, its fields as they are written, without padding; "" where the log has "-". Fill the
// fields by name to write a line; the functions below make those with a form of their own.
struct Line {
  std::string logged_at;    // "2017-08-03T21:45:24.496Z"
  std::string status;       // "200", "-9998"
  std::string size;         // "2189"
  std::string uri;          //
  std::string hops;         // "LLE"; "" for a seed
  std::string via;          // the page that led here
  std::string mime_type;    // "text/html", "unknown", "no-type"
  std::string thread;       // "#001"
  std::string fetch;        // "20170803214523617+365"
  std::string digest;       // "sha1:PBS2…"; old logs have it without "sha1:"
  std::string source;       // the seed
  std::string annotations;  // "3t,duplicate:digest"
  std::string extra;        // a JSON object, or ""

  // Nothing where the field is "" or not what it should be.
  std::optional<Timestamp> LoggedAt() const;
  std::optional<int> StatusCode() const;
  std::optional<std::uint64_t> SizeBytes() const;
  std::optional<Timestamp> FetchBegin() const;
  std::optional<std::uint64_t> FetchMilliseconds() const;

  // "3t", "duplicate:\"a,b\"", …: divided at commas, but not at those between quotes. Views into
  // `annotations`.
  std::vector<std::string_view> AnnotationList() const;

  friend bool operator==(const Line&, const Line&) = default;
};

inline constexpr std::size_t kMaxLineBytes = std::size_t{4} << 20;

// `text` is one line without its line break. Any number of spaces between the fields is accepted.
// Errors: kCorrupt where there are fewer than twelve fields, the status is no number (a line cut
// off or not of a crawl.log), or the line is longer than kMaxLineBytes.
Result<Line> ParseLine(std::string_view text);

// The line without a line break, padded as Heritrix does. FormatLine(*ParseLine(text)) == text for
// every line that Heritrix wrote. What would break the line is written as %XX: control bytes, and
// spaces in the fields before the annotations. In `extra` control bytes become spaces.
std::string FormatLine(const Line& line);

std::string FetchField(Timestamp begin, std::uint64_t milliseconds);
std::string ThreadField(unsigned number);  // 7 gives "#007"
// What stands before white space, ';' or ',' in a Content-Type; "no-type" where nothing does.
std::string MimeTypeField(std::string_view content_type);
// The last 50 hops, with the number of those before them in front: "12+LLLE…".
std::string HopsField(std::string_view hops);

// Reads the lines of one piece of a log after another. Borrows `text`, which must outlive the
// reader.
class LineReader final {
 public:
  // `last` is false where more of the log follows: an unfinished line at the end is then left for
  // the next piece, which starts at text.substr(consumed()).
  explicit LineReader(std::string_view text, bool last = true) : text_(text), last_(last) {}

  // The next line that is not blank; nothing at the end. An error concerns its own line only: the
  // next call goes on after it.
  std::optional<Result<Line>> Next();

  std::size_t consumed() const { return at_; }
  // Of the line that Next() gave last; the first is 1.
  std::uint64_t line_number() const { return line_number_; }

 private:
  std::string_view text_;
  bool last_;
  std::size_t at_ = 0;
  std::uint64_t line_number_ = 0;
};

}  // namespace stele::crawl_log
