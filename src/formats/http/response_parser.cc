// A head is looked for in three steps, each of which can ask for more bytes: where it starts, where
// its empty line is, and, after a 1xx response, whether another head follows.
#include <algorithm>

#include "formats/http/field_block.h"
#include "formats/http/message.h"
#include "util/ascii.h"

namespace stele::http {
namespace {

constexpr std::size_t kLeadingSpaceMax = 1024;
constexpr std::size_t kJunkMax = 8;
constexpr std::size_t kBareStatusLineMax = 256;
constexpr std::size_t kInterimMax = 16;

enum class Start { kFound, kMaybe, kNone };

// "HTTP/", "HTTP 200" or "ICY 200".
Start MatchProtocol(std::string_view bytes, bool at_end) {
  for (const std::string_view word : {"HTTP/", "HTTP ", "ICY "}) {
    const std::size_t size = std::min(word.size(), bytes.size());
    if (!EqualsIgnoreCase(bytes.substr(0, size), word.substr(0, size))) continue;
    if (size == word.size() && word.back() == '/') return Start::kFound;
    if (size == word.size() && bytes.size() > size) {
      if (IsAsciiDigit(bytes[size])) return Start::kFound;
    } else if (!at_end) {
      return Start::kMaybe;
    }
  }
  return Start::kNone;
}

// "200 OK", taken for a status line only when a field follows it.
Start MatchBareStatus(std::string_view bytes, bool at_end) {
  const std::size_t looked_at = std::min<std::size_t>(bytes.size(), 4);
  for (std::size_t i = 0; i < looked_at; ++i) {
    const bool good = i == 0   ? bytes[i] >= '1' && bytes[i] <= '5'
                      : i == 3 ? IsAsciiSpace(bytes[i])
                               : IsAsciiDigit(bytes[i]);
    if (!good) return Start::kNone;
  }
  const Start more = at_end ? Start::kNone : Start::kMaybe;
  const std::size_t feed = bytes.substr(0, kBareStatusLineMax).find('\n');
  if (feed == kNotFound) return bytes.size() < kBareStatusLineMax ? more : Start::kNone;
  const std::string_view field = bytes.substr(feed + 1, kBareStatusLineMax);
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == ':') return i > 0 ? Start::kFound : Start::kNone;
    if (!IsTokenCharacter(field[i])) return Start::kNone;
  }
  return field.size() < kBareStatusLineMax ? more : Start::kNone;
}

// "HTTP/1" after a few foreign bytes, such as a byte order mark.
Start MatchAfterJunk(std::string_view bytes, bool at_end, std::size_t& junk) {
  constexpr std::string_view kWord = "HTTP/";
  const std::size_t found = bytes.substr(0, kJunkMax + kWord.size()).find(kWord);
  if (found != kNotFound && found + kWord.size() < bytes.size()) {
    junk = found;
    return IsAsciiDigit(bytes[found + kWord.size()]) ? Start::kFound : Start::kNone;
  }
  return bytes.size() <= kJunkMax + kWord.size() && !at_end ? Start::kMaybe : Start::kNone;
}

// Moves `begin` to the status line when it is found.
Start FindStart(std::string_view bytes, bool at_end, bool after_interim, std::size_t& begin,
                Defects& defects) {
  std::size_t at = begin;
  const std::size_t space_end = std::min(bytes.size(), begin + kLeadingSpaceMax);
  while (at < space_end && IsAsciiSpace(bytes[at])) ++at;
  if (at == bytes.size() && !at_end) return Start::kMaybe;
  const std::string_view rest = bytes.substr(at);
  std::size_t junk = 0;
  Start start = MatchProtocol(rest, at_end);
  if (start == Start::kNone && !after_interim) start = MatchBareStatus(rest, at_end);
  if (start == Start::kNone && !after_interim) start = MatchAfterJunk(rest, at_end, junk);
  if (start != Start::kFound) return start;
  if (at > begin) defects.Add(Defect::kLeadingEmptyLines);
  if (junk > 0) defects.Add(Defect::kLeadingJunk);
  begin = at + junk;
  return start;
}

void ParseStatus(std::string_view rest, ResponseHead& head) {
  std::size_t digits = 0;
  while (digits < rest.size() && IsAsciiDigit(rest[digits])) ++digits;
  if (digits == 0 || digits > 3) {
    head.defects.Add(Defect::kBadStatus);
    head.reason = TrimBlanks(rest);
    return;
  }
  head.status = static_cast<int>(*ParseDecimal(rest.substr(0, digits)));
  rest.remove_prefix(digits);
  const bool cut_off = !rest.empty() && rest.front() != ' ' && rest.front() != '\t';
  if (head.status < 100 || cut_off) head.defects.Add(Defect::kBadStatus);
  if (rest.empty()) head.defects.Add(Defect::kNoReason);
  head.reason = TrimBlanks(rest);
}

void ParseStatusLine(std::string_view line, ResponseHead& head) {
  if (!IsAsciiDigit(line.front())) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    head.version = line.substr(0, end);
    line.remove_prefix(end);
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  }
  if (head.version != "HTTP/1.1" && head.version != "HTTP/1.0") {
    head.defects.Add(Defect::kOddVersion);
  }
  ParseStatus(line, head);
}

void ParseLines(std::string_view raw, ResponseHead& head) {
  std::string_view rest = raw;
  ParseStatusLine(TakeLine(rest, head.defects), head);
  // A folded line after the status line belongs to the reason, unless it looks like a field.
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) {
    std::string_view after = rest;
    const std::string_view line = TakeLine(after, head.defects);
    if (line.find(':') != kNotFound) break;
    const std::string_view more = TrimBlanks(line);
    if (!more.empty() && head.reason.data() != nullptr) {
      head.reason = {head.reason.data(),
                     static_cast<std::size_t>(more.data() + more.size() - head.reason.data())};
    }
    head.defects.Add(Defect::kFoldedLine);
    rest = after;
  }
  ParseFields(rest, head.headers, head.defects);
  NoteCharacters(raw, head.defects);
}

void ClearHead(ResponseHead& head) {
  head.version = {};
  head.status = 0;
  head.reason = {};
  head.headers.Clear();
  head.interim.clear();
  head.raw = {};
  head.head_length = 0;
  head.defects = {};
}

}  // namespace

void ResponseParser::Reset() {
  begin_ = 0;
  scanned_ = 0;
  interim_.clear();
  ClearHead(head_);
}

HeadOutcome ResponseParser::ParseOne(std::string_view bytes, bool at_end) {
  ClearHead(head_);
  std::size_t start = begin_;
  switch (FindStart(bytes, at_end, !interim_.empty(), start, head_.defects)) {
    case Start::kMaybe:
      return HeadOutcome::kNeedMore;
    case Start::kNone:
      return HeadOutcome::kNoHead;
    case Start::kFound:
      break;
  }
  const std::string_view rest = bytes.substr(start);
  std::size_t end = FindHeadEnd(rest, scanned_);
  if (end == kNotFound) {
    if (rest.size() > size_max_) return HeadOutcome::kTooLong;
    if (!at_end) return HeadOutcome::kNeedMore;
    end = rest.size();
    head_.defects.Add(Defect::kHeadUnterminated);
  }
  if (end > size_max_) return HeadOutcome::kTooLong;
  head_.raw = rest.substr(0, end);
  head_.head_length = start + end;
  ParseLines(head_.raw, head_);
  return HeadOutcome::kComplete;
}

HeadOutcome ResponseParser::Parse(std::string_view bytes, bool at_end) {
  for (;;) {
    HeadOutcome outcome = ParseOne(bytes, at_end);
    const bool interim = outcome == HeadOutcome::kComplete && head_.status >= 100 &&
                         head_.status < 200 && head_.status != 101 &&
                         !head_.defects.Has(Defect::kHeadUnterminated);
    if (interim && interim_.size() < kInterimMax) {
      interim_.push_back({begin_, head_.head_length, head_.raw.size(), head_.status});
      begin_ = head_.head_length;
      scanned_ = 0;
      continue;
    }
    if (outcome == HeadOutcome::kNoHead && !interim_.empty()) {
      // Nothing more of HTTP follows, so the last 1xx was the final response after all. Its place
      // is taken for good: the bytes that showed it do not change.
      const Interim last = interim_.back();
      interim_.pop_back();
      begin_ = last.begin;
      scanned_ = 0;
      outcome = ParseOne(bytes, at_end);
    }
    if (outcome == HeadOutcome::kComplete) {
      for (const Interim& one : interim_) {
        head_.interim.push_back({one.status, bytes.substr(one.end - one.size, one.size)});
      }
    }
    return outcome;
  }
}

Result<ResponseHead> ParseResponseHead(std::string_view bytes) {
  ResponseParser parser;
  switch (parser.Parse(bytes, true)) {
    case HeadOutcome::kComplete:
      return parser.head();
    case HeadOutcome::kTooLong:
      return Error{ErrorCode::kFull, "the head of the HTTP response exceeds the limit"};
    default:
      return Error{ErrorCode::kCorrupt, "no HTTP response head"};
  }
}

}  // namespace stele::http
