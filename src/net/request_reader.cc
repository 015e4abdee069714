#include "net/request_reader.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "util/ascii.h"

namespace stele::net {
namespace {

using http::Defect;

constexpr std::array<std::pair<Defect, std::string_view>, 7> kRefusedInHead{{
    {Defect::kBareLineFeed, "a line ends in LF without CR"},
    {Defect::kFoldedLine, "a header is folded over several lines"},
    {Defect::kSpaceBeforeColon, "there is a space before the colon of a header"},
    {Defect::kLineWithoutColon, "a header line has no colon"},
    {Defect::kBadFieldName, "the name of a header has a character that names do not have"},
    {Defect::kControlCharacter, "the head has a control character"},
    {Defect::kHeadUnterminated, "the head has no end"},
}};

Refusal BadRequest(std::string_view why) { return {400, fmt::format("Bad request: {}.", why)}; }

bool HasLoneReturn(std::string_view bytes) {
  for (std::size_t at = bytes.find('\r'); at != std::string_view::npos;
       at = bytes.find('\r', at + 1)) {
    if (at + 1 == bytes.size() || bytes[at + 1] != '\n') return true;
  }
  return false;
}

// Exactly one space between the three parts.
bool IsPlainRequestLine(const http::RequestHead& head) {
  const std::size_t target_at = head.method.size() + 1;
  const std::size_t version_at = target_at + head.target.size() + 1;
  return head.raw.size() > version_at + head.version.size() &&
         head.target.data() == head.raw.data() + target_at &&
         head.version.data() == head.raw.data() + version_at && head.raw[target_at - 1] == ' ' &&
         head.raw[version_at - 1] == ' ' && head.raw[version_at + head.version.size()] == '\r' &&
         head.target.find_first_of(" \t") == std::string_view::npos;
}

std::optional<Refusal> JudgeVersion(std::string_view version, AcceptedRequest& accepted) {
  if (version.empty()) return BadRequest("the first line names no HTTP version");
  const std::string_view number = version.substr(5);
  const bool well_formed = version.starts_with("HTTP/") && number.size() == 3 &&
                           IsAsciiDigit(number[0]) && number[1] == '.' && IsAsciiDigit(number[2]);
  if (!well_formed) return BadRequest("the first line has no proper HTTP version");
  if (number[0] != '1') {
    return Refusal{505, "This server speaks HTTP/1.1 and HTTP/1.0 only."};
  }
  accepted.http_1_0 = number[2] == '0';
  return std::nullopt;
}

// origin-form, absolute-form, or "*" with OPTIONS.
bool SplitTarget(const http::RequestHead& head, AcceptedRequest& accepted) {
  std::string_view target = head.target;
  if (target == "*") {
    accepted.path = target;
    return head.method == "OPTIONS";
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!StartsWithIgnoreCase(target, scheme)) continue;
    const std::size_t begin = target.find_first_of("/?", scheme.size());
    if (target.size() == scheme.size() || begin == scheme.size()) return false;
    target = begin == std::string_view::npos ? target.substr(target.size()) : target.substr(begin);
    if (target.empty() || target.front() != '/') {
      accepted.path = "/";
      accepted.query = target.empty() ? target : target.substr(1);
      return true;
    }
    break;
  }
  if (!target.starts_with('/')) return false;
  const std::size_t mark = target.find('?');
  accepted.path = target.substr(0, mark);
  if (mark != std::string_view::npos) accepted.query = target.substr(mark + 1);
  return true;
}

std::optional<Refusal> JudgeFraming(const http::RequestHead& head, std::uint64_t body_size_max,
                                    AcceptedRequest& accepted) {
  const std::vector<std::string_view> codings = head.headers.FindAll("Transfer-Encoding");
  accepted.plan = http::PlanRequestBody(head);
  if (!codings.empty()) {
    if (accepted.http_1_0) return BadRequest("HTTP/1.0 has no Transfer-Encoding");
    if (head.headers.Find("Content-Length")) {
      return BadRequest("there are both Content-Length and Transfer-Encoding");
    }
    if (codings.size() != 1 || !EqualsIgnoreCase(codings.front(), "chunked")) {
      return Refusal{501, "This server knows no transfer coding but chunked."};
    }
  }
  if (!accepted.plan.defects.empty()) {
    return BadRequest("Content-Length is repeated or is no number");
  }
  if (accepted.plan.framing == http::BodyFraming::kLength && accepted.plan.length > body_size_max) {
    return Refusal{413, fmt::format("The body has {} bytes; this server takes up to {}.",
                                    accepted.plan.length, body_size_max)};
  }
  return std::nullopt;
}

bool ConnectionHas(const http::Headers& headers, std::string_view option) {
  for (const std::string_view one : headers.List("Connection")) {
    if (EqualsIgnoreCase(one, option)) return true;
  }
  return false;
}

}  // namespace

std::optional<Refusal> JudgeHead(const http::RequestHead& head, std::string_view bytes,
                                 std::uint64_t body_size_max, AcceptedRequest& accepted) {
  if (auto refusal = JudgeVersion(head.version, accepted)) return refusal;
  for (const auto& [defect, why] : kRefusedInHead) {
    if (head.defects.Has(defect)) return BadRequest(why);
  }
  if (HasLoneReturn(bytes.substr(0, head.head_length))) {
    return BadRequest("the head has a CR that ends no line");
  }
  // Empty lines may precede a request; anything else may not.
  const std::string_view before = bytes.substr(0, head.head_length - head.raw.size());
  if (before.find_first_not_of("\r\n") != std::string_view::npos || !IsPlainRequestLine(head)) {
    return BadRequest("the first line is not: method, space, target, space, version");
  }
  if (!SplitTarget(head, accepted)) return BadRequest("the target is no path");
  const std::size_t hosts = head.headers.FindAll("Host").size();
  if (hosts > 1 || (hosts == 0 && !accepted.http_1_0)) {
    return BadRequest("there must be one Host header");
  }
  if (auto refusal = JudgeFraming(head, body_size_max, accepted)) return refusal;

  accepted.keep_alive = accepted.http_1_0 ? ConnectionHas(head.headers, "keep-alive")
                                          : !ConnectionHas(head.headers, "close");
  const bool has_body =
      accepted.plan.framing == http::BodyFraming::kChunked ||
      (accepted.plan.framing == http::BodyFraming::kLength && accepted.plan.length > 0);
  if (const auto expect = head.headers.Find("Expect"); expect && !accepted.http_1_0) {
    if (!EqualsIgnoreCase(*expect, "100-continue")) {
      return Refusal{417, "This server knows no expectation but 100-continue."};
    }
    accepted.expect_continue = has_body;
  }
  return std::nullopt;
}

BodyReader::BodyReader(const http::BodyPlan& plan, std::uint64_t size_max)
    : decoder_(plan),
      left_(size_max),
      done_(plan.framing == http::BodyFraming::kNone ||
            (plan.framing == http::BodyFraming::kLength && plan.length == 0)) {}

Result<BodyReader::Step> BodyReader::Decode(std::string_view in) {
  if (done_) return Step{0, {}, true};
  const http::TransferDecoder::Step step = decoder_.Decode(in);
  if (!decoder_.defects().empty()) {
    // Which defects were found depends on how much has come; the text does not.
    return Error{ErrorCode::kCorrupt, "the chunks of the request's body are malformed"};
  }
  if (step.payload.size() > left_) {
    return Error{ErrorCode::kFull, "the request's body exceeds the server's limit"};
  }
  left_ -= step.payload.size();
  done_ = step.done;
  return Step{step.consumed, step.payload, step.done};
}

}  // namespace stele::net
