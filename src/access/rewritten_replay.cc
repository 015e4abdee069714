#include "access/rewritten_replay.h"

#include <fmt/format.h>

#include "access/css_rewriter.h"
#include "access/html_rewriter.h"
#include "access/memento.h"
#include "access/replay.h"
#include "access/script_rewriter.h"
#include "formats/http/media_type.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
// Larger style sheets and scripts pass as they are.
constexpr std::size_t kTextBytesMax = std::size_t{8} << 20;

// It names nobody whose frames it may be in: archived pages have frames, too, and in the sandbox no
// origin to be named by. Whoever else has it in a frame gets nothing from there.
constexpr std::string_view kPolicy =
    "sandbox allow-scripts allow-forms; default-src 'self' 'unsafe-inline' 'unsafe-eval' data: "
    "blob:; connect-src 'none'; object-src 'none'; form-action 'self'; base-uri 'self'";

// What is a page by itself, and gets the address of its own time.
bool IsDocument(std::string_view modifier) {
  return modifier.empty() || modifier == "mp_" || modifier == "if_" || modifier == "fr_";
}

enum class Kind { kHtml, kCss, kScript, kOther };

Kind KindOf(std::string_view content_type, std::string_view modifier) {
  const std::string type = http::ParseMediaType(content_type).type;
  if (modifier == "im_") return Kind::kOther;
  if (modifier == "js_") return Kind::kScript;
  if (modifier == "cs_" || type == "text/css") return Kind::kCss;
  if (type.find("javascript") != std::string::npos) return Kind::kScript;
  const bool html = type == "text/html" || type == "application/xhtml+xml";
  return html ? Kind::kHtml : Kind::kOther;
}

// A page is rewritten while it is read.
class RewritingSource final : public io::Source {
 public:
  RewritingSource(std::unique_ptr<CaptureContent> content, UrlRewriter urls, std::string banner)
      : content_(std::move(content)), urls_(std::move(urls)), rewriter_(urls_, std::move(banner)) {
    piece_.resize(kPieceBytes);
  }

  Result<std::size_t> Read(std::span<char> out) override {
    while (at_ == ready_.size() && !ended_) {
      ready_.clear();
      at_ = 0;
      Result<std::size_t> size = content_->Read(piece_);
      if (!size) return size;
      if (begin_) {
        // What is written in two bytes each has no tags that we could see.
        const std::string_view begin(piece_.data(), std::min<std::size_t>(*size, 2));
        passes_ = begin == "\xFF\xFE" || begin == "\xFE\xFF";
        begin_ = false;
      }
      ended_ = *size == 0;
      if (passes_) {
        ready_.assign(piece_, 0, *size);
      } else if (ended_) {
        rewriter_.Finish(ready_);
      } else {
        rewriter_.Feed(std::string_view(piece_).substr(0, *size), ready_);
      }
    }
    const std::size_t size = std::min(out.size(), ready_.size() - at_);
    ready_.copy(out.data(), size, at_);
    at_ += size;
    return size;
  }

 private:
  std::unique_ptr<CaptureContent> content_;
  UrlRewriter urls_;
  HtmlRewriter rewriter_;
  std::string piece_;
  std::string ready_;
  std::size_t at_ = 0;
  bool begin_ = true;
  bool passes_ = false;
  bool ended_ = false;
};

// For those who see the page alone, and not in a frame of ours.
std::string BannerOf(const Call& call, const catalog::Capture& row) {
  if (call.Header("Sec-Fetch-Dest") != "document") return "";
  return fmt::format(
      "<div style=\"all:initial;display:block;font:14px sans-serif;background:#123;color:#fff;"
      "padding:6px 10px\">Archived on {} &middot; reduced replay: scripts may not work &middot; "
      "<a style=\"color:#fd6\" href=\"{}web/*/{}\">all captures</a></div>",
      FormatIso(row.time), EscapeHtml(call.prefix), EscapeHtml(row.url));
}

net::ResponseStart StartFor(const Call& call, const WaybackPath& path, const Replayed& replayed) {
  const ArchivedHead& head = replayed.content->head();
  net::ResponseStart start;
  start.status = WireStatus(head.status);
  start.fields = CaptureFields(call, path, replayed);
  start.fields.push_back({"Cache-Control", "no-cache"});
  start.fields.push_back({"Content-Security-Policy", std::string(kPolicy)});
  start.fields.push_back({"Referrer-Policy", "no-referrer"});
  for (const net::HeaderField& field : head.fields) {
    const bool keeps = EqualsIgnoreCase(field.name, "Content-Type") ||
                       EqualsIgnoreCase(field.name, "Content-Language");
    start.fields.push_back({keeps ? field.name : "X-Archive-Orig-" + field.name, field.value});
  }
  return start;
}

}  // namespace

void SendRewritten(const Call& call, const WaybackPath& path) {
  bool blocked = false;
  Result<std::optional<Replayed>> found = FindReplayed(
      call.sight, path, [](std::string_view) { return false; }, blocked);
  if (!found) return SendError(call, found.error());
  if (!*found) return blocked ? SendBlocked(call) : SendNotFound(call, path.url);
  Replayed& replayed = **found;
  const catalog::Capture& row = replayed.capture.row;
  const bool is_document = IsDocument(path.modifier);
  if (const auto exact = is_document ? LeadsTo(call, path, replayed) : std::nullopt) {
    return Redirect(call, *exact, {{"Vary", "accept-datetime"}});
  }
  net::ResponseStart start = StartFor(call, path, replayed);
  // What a page embeds is asked for at the page's time, whatever its own is.
  const bool keeps_time = is_document ? NamesExactly(path, row) : path.digits.size() >= 14;
  const std::string prefix =
      fmt::format("{}web/{}", call.prefix, keeps_time ? path.digits : FormatDigits14(row.time));
  if (replayed.is_redirect()) {
    start.fields.push_back(
        {"Location", fmt::format("{}{}/{}", prefix, path.modifier, CleanValue(replayed.location))});
  } else if (start.status >= 300 && start.status < 400) {
    start.status = 200;  // it leads nowhere
  }
  UrlRewriter urls(prefix, row.url);
  const Kind kind = KindOf(replayed.content->head().Find("Content-Type"), path.modifier);
  if (kind == Kind::kHtml) {
    std::string banner = BannerOf(call, row);
    static_cast<void>(call.response.SendFrom(
        start, std::make_unique<RewritingSource>(std::move(replayed.content), std::move(urls),
                                                 std::move(banner))));
    return;
  }
  const bool is_short = replayed.content->length().value_or(kTextBytesMax) <= kTextBytesMax;
  if (kind != Kind::kOther && is_short) {
    Result<std::string> text = replayed.content->ReadAll(2 * kTextBytesMax);
    if (!text) return SendError(call, text.error());
    static_cast<void>(call.response.Reply(
        start, kind == Kind::kCss ? RewriteCss(*text, urls) : RewriteScript(*text, urls)));
    return;
  }
  SendContent(call, std::move(start), std::move(replayed), true);
}

}  // namespace stele::access
