#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/http/defects.h"
#include "util/result.h"

// The heads of HTTP messages as servers and browsers really sent them. Nothing is copied or
// changed: every view points into the bytes that were parsed, which must outlive the head.
namespace stele::http {

struct Field {
  std::string_view name;   // without spaces at its ends; empty for a line without colon
  std::string_view value;  // likewise; a folded value contains its line ends, see Unfold()
};

// The fields of a head in their order. Cheap to reuse: Clear() keeps the memory.
class Headers {
 public:
  // The first of that name, in any case.
  std::optional<std::string_view> Find(std::string_view name) const;
  std::vector<std::string_view> FindAll(std::string_view name) const;
  // The comma-separated elements of all fields of that name, in order, trimmed, empty ones left
  // out. For headers that are lists without quoted strings.
  std::vector<std::string_view> List(std::string_view name) const;

  const std::vector<Field>& fields() const { return fields_; }
  void Clear() { fields_.clear(); }
  void Add(std::string_view name, std::string_view value) { fields_.push_back({name, value}); }
  // Lets the last field reach to `end`, which lies in the same bytes.
  void ExtendLast(const char* end);

 private:
  std::vector<Field> fields_;
};

// `value` on one line: each line end with the spaces around it becomes one space.
std::string Unfold(std::string_view value);

// A 1xx response that came before the final one.
struct InterimHead {
  int status = 0;
  std::string_view raw;
};

struct ResponseHead {
  std::string_view version;  // as sent: "HTTP/1.1", "HTTP/2", "ICY"; empty when there is none
  int status = 0;            // 0 when it is no number of one to three digits
  std::string_view reason;   // may be folded, may be 8-bit
  Headers headers;
  std::vector<InterimHead> interim;
  std::string_view raw;         // from the status line through the empty line, exactly
  std::size_t head_length = 0;  // where the body begins, counted from the first byte parsed
  Defects defects;
};

struct RequestHead {
  std::string_view method;
  std::string_view target;   // may contain spaces
  std::string_view version;  // empty: HTTP/0.9
  Headers headers;
  std::string_view raw;
  std::size_t head_length = 0;
  Defects defects;
};

enum class HeadOutcome {
  kComplete,  // the head is there
  kNeedMore,  // the bytes so far may become a head
  kNoHead,    // this is none: a body without head (HTTP/0.9), or another protocol
  kTooLong,   // no end within the limit
};

inline constexpr std::size_t kHeadSizeMax = std::size_t{1} << 20;

// Finds the head at the start of a buffer that may still grow. It remembers how far it looked, so
// that feeding byte by byte stays linear. One parser reads one head after another by Reset().
//
// A 1xx response is kept as interim when another head follows it, except 101, after which the
// connection speaks another protocol.
class ResponseParser {
 public:
  explicit ResponseParser(std::size_t size_max = kHeadSizeMax) : size_max_(size_max) {}

  // `bytes` is the message from its first byte; later calls see the same bytes and more of them,
  // possibly at another address. `at_end`: no more will come; a head that lacks its empty line is
  // then complete, and kNeedMore is never the answer.
  HeadOutcome Parse(std::string_view bytes, bool at_end);

  // After kComplete. Points into the bytes of that call.
  const ResponseHead& head() const { return head_; }
  void Reset();

 private:
  struct Interim {
    std::size_t begin;  // where it was looked for
    std::size_t end;
    std::size_t size;
    int status;
  };

  HeadOutcome ParseOne(std::string_view bytes, bool at_end);

  std::size_t size_max_;
  std::size_t begin_ = 0;    // of the head being looked for, after interim ones
  std::size_t scanned_ = 0;  // no end of it before here
  std::vector<Interim> interim_;
  ResponseHead head_;
};

class RequestParser {
 public:
  explicit RequestParser(std::size_t size_max = kHeadSizeMax) : size_max_(size_max) {}
  HeadOutcome Parse(std::string_view bytes, bool at_end);  // as ResponseParser::Parse
  const RequestHead& head() const { return head_; }
  void Reset();

 private:
  std::size_t size_max_;
  std::size_t scanned_ = 0;
  RequestHead head_;
};

// For bytes that are all there, as in an archive's record.
// Errors: kCorrupt when they begin with no head, kFull when it is longer than kHeadSizeMax.
Result<ResponseHead> ParseResponseHead(std::string_view bytes);
Result<RequestHead> ParseRequestHead(std::string_view bytes);

}  // namespace stele::http
