#include <algorithm>

#include "formats/http/field_block.h"
#include "formats/http/message.h"
#include "util/ascii.h"

namespace stele::http {
namespace {

constexpr std::size_t kLeadingSpaceMax = 1024;
constexpr std::size_t kMethodSizeMax = 32;

bool LooksLikeTarget(std::string_view target) {
  return target.starts_with('/') || target == "*" || target.find("://") != kNotFound;
}

// "GET /a b HTTP/1.1": the target is what lies between the method and the last "HTTP/...".
bool ParseRequestLine(std::string_view line, RequestHead& head) {
  const std::size_t method_end = line.find_first_of(" \t");
  if (method_end == kNotFound) return false;
  head.method = line.substr(0, method_end);
  std::string_view rest = TrimBlanks(line.substr(method_end));
  const std::size_t last = rest.find_last_of(" \t");
  const std::string_view tail = last == kNotFound ? rest : rest.substr(last + 1);
  if (StartsWithIgnoreCase(tail, "HTTP/")) {
    head.version = tail;
    rest = TrimBlanks(rest.substr(0, last == kNotFound ? 0 : last));
  } else if (!LooksLikeTarget(rest)) {
    return false;
  }
  head.target = rest;
  if (head.version != "HTTP/1.1" && head.version != "HTTP/1.0") {
    head.defects.Add(Defect::kOddVersion);
  }
  return true;
}

// The method is all that can be judged before the first line is complete.
bool MayBeRequest(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == ' ' || bytes[i] == '\t') return i > 0;
    if (i == kMethodSizeMax || !IsTokenCharacter(bytes[i])) return false;
  }
  return true;
}

void ClearHead(RequestHead& head) {
  head.method = {};
  head.target = {};
  head.version = {};
  head.headers.Clear();
  head.raw = {};
  head.head_length = 0;
  head.defects = {};
}

}  // namespace

void RequestParser::Reset() {
  scanned_ = 0;
  ClearHead(head_);
}

HeadOutcome RequestParser::Parse(std::string_view bytes, bool at_end) {
  ClearHead(head_);
  std::size_t start = 0;
  const std::size_t space_end = std::min(bytes.size(), kLeadingSpaceMax);
  while (start < space_end && IsAsciiSpace(bytes[start])) ++start;
  const std::string_view rest = bytes.substr(start);
  if (rest.empty()) return at_end ? HeadOutcome::kNoHead : HeadOutcome::kNeedMore;
  if (!MayBeRequest(rest)) return HeadOutcome::kNoHead;
  if (start > 0) head_.defects.Add(Defect::kLeadingEmptyLines);
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
  std::string_view lines = head_.raw;
  if (!ParseRequestLine(TakeLine(lines, head_.defects), head_)) return HeadOutcome::kNoHead;
  ParseFields(lines, head_.headers, head_.defects);
  NoteCharacters(head_.raw, head_.defects);
  return HeadOutcome::kComplete;
}

Result<RequestHead> ParseRequestHead(std::string_view bytes) {
  RequestParser parser;
  switch (parser.Parse(bytes, true)) {
    case HeadOutcome::kComplete:
      return parser.head();
    case HeadOutcome::kTooLong:
      return Error{ErrorCode::kFull, "the head of the HTTP request exceeds the limit"};
    default:
      return Error{ErrorCode::kCorrupt, "no HTTP request head"};
  }
}

}  // namespace stele::http
