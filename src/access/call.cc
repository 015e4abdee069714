#include "access/call.h"

#include <fmt/format.h>

#include "codec/gzip_codec.h"
#include "formats/http/accept_encoding.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::access {
namespace {

// Less is not worth it.
constexpr std::size_t kCompressedFrom = 1024;
constexpr int kGzipLevel = 4;
constexpr std::size_t kPieceBytes = 32 << 10;

// No script, no picture, nothing from anywhere.
constexpr std::string_view kPlainPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'self'; "
    "base-uri 'none'";

constexpr std::string_view kPageBegin =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\"><style>body{font:16px/1.5 sans-serif;max-width:60em;"
    "margin:2em auto;padding:0 1em;color:#222;background:#fff}@media(prefers-color-scheme:dark)"
    "{body{color:#ddd;background:#1b1b1b}a{color:#8cf}}code{overflow-wrap:anywhere}"
    "td,th{text-align:left;padding:0 1em 0 0;vertical-align:top}</style><title>";

class GeneratedSource final : public io::Source {
 public:
  // `piece` is the begin. Packed by `encoder` where there is one.
  GeneratedSource(std::string piece, MakePiece make, std::unique_ptr<codec::Encoder> encoder)
      : make_(std::move(make)), encoder_(std::move(encoder)), piece_(std::move(piece)) {}

  Result<std::size_t> Read(std::span<char> out) override {
    while (at_ == ready_.size() && !ended_) {
      ready_.clear();
      at_ = 0;
      if (const Status filled = Fill(); !filled) return filled.error();
    }
    const std::size_t size = std::min(out.size(), ready_.size() - at_);
    ready_.copy(out.data(), size, at_);
    at_ += size;
    return size;
  }

 private:
  Status Fill() {
    while (piece_.size() < kPieceBytes && !ended_) {
      const Result<bool> more = make_(piece_);
      if (!more) return more.error();
      ended_ = !*more;
    }
    if (!encoder_) {
      ready_.swap(piece_);
      return {};
    }
    std::string_view in = piece_;
    for (bool more = true; more;) {
      const std::size_t begin = ready_.size();
      ready_.resize(begin + kPieceBytes);
      const Result<codec::Progress> step =
          encoder_->Encode(in, std::span(ready_).subspan(begin), ended_);
      if (!step) return step.error();
      ready_.resize(begin + step->produced);
      in.remove_prefix(step->consumed);
      more = ended_ ? !step->done : !in.empty();
    }
    piece_.clear();
    return {};
  }

  MakePiece make_;
  const std::unique_ptr<codec::Encoder> encoder_;
  std::string piece_;  // made, and not yet packed
  std::string ready_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
      return 502;
    case ErrorCode::kBusy:
    case ErrorCode::kOutdated:
      return 503;
    case ErrorCode::kFull:
      return 413;
  }
  return 500;
}

std::string_view NameOf(int status) {
  switch (status) {
    case 400:
      return "invalid";
    case 403:
      return "refused";
    case 404:
      return "not-found";
    case 413:
      return "full";
    case 451:
      return "blocked";
    case 503:
      return "busy";
    default:
      return "corrupt";
  }
}

}  // namespace

net::ResponseStart StartOf(int status, std::string_view content_type) {
  net::ResponseStart start;
  start.status = status;
  start.fields = {{"Content-Type", std::string(content_type)},
                  {"Cache-Control", "no-cache"},
                  {"X-Content-Type-Options", "nosniff"},
                  {"Referrer-Policy", "no-referrer"}};
  if (content_type == kHtmlType) {
    start.fields.push_back({"Content-Security-Policy", std::string(kPlainPolicy)});
  }
  return start;
}

void Send(const Call& call, net::ResponseStart start, std::string_view body) {
  std::string packed;
  if (body.size() >= kCompressedFrom && http::AcceptsCoding(call.request.head().headers, "gzip")) {
    Result<std::string> compressed = codec::GzipCodec().Compress(body, kGzipLevel);
    if (compressed) {
      packed = *std::move(compressed);
      body = packed;
      start.fields.push_back({"Content-Encoding", "gzip"});
    }
  }
  start.fields.push_back({"Vary", "Accept-Encoding"});
  // A client that has gone needs no answer.
  static_cast<void>(call.response.Reply(start, body));
}

void SendText(const Call& call, std::string_view content_type, std::string_view body) {
  Send(call, StartOf(200, content_type), body);
}

void SendJson(const Call& call, std::string_view json) {
  Send(call, StartOf(200, kJsonType), json);
}

void Redirect(const Call& call, std::string location, std::vector<net::HeaderField> fields) {
  // What was sent with a body is asked for without one there.
  net::ResponseStart start = StartOf(call.is_read() ? 302 : 303, kPlainType);
  start.fields.insert(start.fields.end(), fields.begin(), fields.end());
  start.fields.push_back({"Location", std::move(location)});
  static_cast<void>(call.response.Reply(start, ""));
}

void SendPieces(const Call& call, net::ResponseStart start, MakePiece make) {
  std::string begin;
  while (begin.size() < kPieceBytes) {
    const Result<bool> more = make(begin);
    if (!more) return SendError(call, more.error());
    if (!*more) return Send(call, std::move(start), begin);
  }
  std::unique_ptr<codec::Encoder> encoder;
  if (http::AcceptsCoding(call.request.head().headers, "gzip")) {
    encoder = codec::GzipCodec().NewEncoder(kGzipLevel);
    start.fields.push_back({"Content-Encoding", "gzip"});
  }
  start.fields.push_back({"Vary", "Accept-Encoding"});
  static_cast<void>(call.response.SendFrom(
      start,
      std::make_unique<GeneratedSource>(std::move(begin), std::move(make), std::move(encoder))));
}

bool NamesTag(std::string_view list, std::string_view tag) {
  for (std::string_view one : Split(list, ',')) {
    one = TrimSpace(one);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag || one == "*") return true;
  }
  return false;
}

std::string PlainPage(std::string_view title, std::string_view body) {
  return fmt::format("{}{}</title></head><body><main><h1>{}</h1>{}</main></body></html>\n",
                     kPageBegin, EscapeHtml(title), EscapeHtml(title), body);
}

void SendError(const Call& call, int status, std::string_view title, std::string_view text) {
  const bool is_api = call.path.starts_with("api/");
  net::ResponseStart start = StartOf(status, is_api ? kJsonType : kHtmlType);
  if (status == 503) start.fields.push_back({"Retry-After", std::string(kRetryAfter)});
  if (is_api) {
    std::string json = fmt::format("{{\"code\": \"{}\", \"error\": ", NameOf(status));
    AppendJsonString(json, text);
    return Send(call, std::move(start), json + "}\n");
  }
  const std::string body = fmt::format("<p>{}</p><p><a href=\"{}\">To the archive</a></p>",
                                       EscapeHtml(text), EscapeHtml(call.prefix));
  Send(call, std::move(start), PlainPage(title, body));
}

void SendError(const Call& call, const Error& error) {
  const int status = StatusOf(error.code);
  const std::string_view title = status == 404   ? "Not in this archive"
                                 : status == 400 ? "This cannot be asked"
                                 : status == 413 ? "Too much at once"
                                 : status == 503 ? "Not now"
                                                 : "The archive is damaged here";
  SendError(call, status, title, error.text);
}

void SendNotFound(const Call& call, std::string_view what) {
  SendError(call, 404, "Not in this archive", fmt::format("{} is not in this archive.", what));
}

void SendBlocked(const Call& call) {
  SendError(call, 451, "Not to be shown", "The rules of this archive do not let this be shown.");
}

void SendKept(const Call& call) {
  SendError(call, 403, "Not to be downloaded",
            "The rules of this archive let this be looked at, but not be taken away.");
}

}  // namespace stele::access
