// A challenge is known by a header that says so, or by words that its maker puts into no other
// page; as people also write about challenges, such words count only in an answer that refuses, or
// where there is little else to read. A page that scripts fill is known by what it lacks: text and
// pictures, while it has scripts and either an element for them to fill or a note for those
// without.
#include "crawl/page_trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "formats/html/tokenizer.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

using Kind = PageTrouble::Kind;

constexpr std::size_t kContentBytesMax = std::size_t{512} << 10;
constexpr std::size_t kPieceBytes = std::size_t{2} << 10;
// A challenge has less text than this, in bytes without white space; a page in want of scripts has
// less than that, and no more pictures.
constexpr std::size_t kChallengeTextMax = 1'500;
constexpr std::size_t kEmptyTextMax = 200;
constexpr int kEmptyPicturesMax = 3;

struct Sign {
  std::string_view text;
  std::string_view maker;
};

struct HeaderSign {
  std::string_view name;
  std::string_view value;
  std::string_view maker;
};

constexpr auto kHeaderSigns = std::to_array<HeaderSign>({
    {"cf-mitigated", "challenge", "Cloudflare"},
    {"x-amzn-waf-action", "challenge", "AWS-WAF"},
    {"x-amzn-waf-action", "captcha", "AWS-WAF"},
    {"x-vercel-mitigated", "challenge", "Vercel"},
});

// None of them is in the pages that these services watch over and let through.
constexpr auto kSigns = std::to_array<Sign>({
    {"_cf_chl_opt", "Cloudflare"},
    {"cf-browser-verification", "Cloudflare"},
    {"<title>Just a moment...</title>", "Cloudflare"},
    {"<title>Attention Required! | Cloudflare</title>", "Cloudflare"},
    {"Checking your browser before accessing", "Cloudflare"},
    {"/.within.website/x/cmd/anubis/", "Anubis"},
    {"Incapsula incident ID", "Imperva"},
    {"sucuri_cloudproxy_js", "Sucuri"},
    {"captcha-delivery.com/", "DataDome"},
    {"px-captcha", "HUMAN"},
    {"awsWafCookieDomainList", "AWS-WAF"},
    {"Vercel Security Checkpoint", "Vercel"},
    {"/.well-known/sgcaptcha/", "SiteGround"},
    {"/.well-known/ddos-guard/js-challenge/", "DDoS-Guard"},
    {"sec-if-cpt-container", "Akamai"},
    {"window.KPSDK", "Kasada"},
    {"Our systems have detected unusual traffic", "Google"},
});

// These stand in many a form; in an answer that refuses they are what it wants.
constexpr auto kCaptchas = std::to_array<Sign>({
    {"g-recaptcha", "reCAPTCHA"},
    {"h-captcha", "hCaptcha"},
    {"cf-turnstile", "Turnstile"},
});

bool Refuses(int status) {
  constexpr std::array<int, 5> kStatuses = {401, 403, 405, 429, 503};
  return std::find(kStatuses.begin(), kStatuses.end(), status) != kStatuses.end();
}

// What the elements are called that the usual frameworks fill.
bool IsRoot(std::string_view id) {
  constexpr auto kIds = std::to_array<std::string_view>(
      {"root", "app", "__next", "__nuxt", "___gatsby", "react-root", "app-root", "svelte", "q-app",
       "main-app", "application", "react-app", "vue-app"});
  return std::find(kIds.begin(), kIds.end(), id) != kIds.end();
}

// Bytes other than white space; in groups, so that the compiler takes many at once.
std::size_t CountVisible(std::string_view text) {
  constexpr std::size_t kGroup = 16;
  std::size_t visible = 0;
  for (; text.size() >= kGroup; text.remove_prefix(kGroup)) {
    unsigned char of_group = 0;
    for (std::size_t i = 0; i < kGroup; ++i) of_group += IsAsciiSpace(text[i]) ? 0 : 1;
    visible += of_group;
  }
  for (const char c : text) visible += IsAsciiSpace(c) ? 0 : 1;
  return visible;
}

// What a reader without scripts gets of a page.
class Glance final : public html::TokenSink {
 public:
  explicit Glance(std::string_view content) {
    html::Tokenizer tokenizer(*this, {});
    // What is enough to read is enough to know.
    while (!content.empty() && text_ < kChallengeTextMax && !framed_) {
      tokenizer.Feed(content.substr(0, kPieceBytes));
      content.remove_prefix(std::min(content.size(), kPieceBytes));
    }
    if (content.empty()) tokenizer.Finish();
  }

  void OnStartTag(const html::Tag& tag) override {
    const std::string_view name = tag.name;
    if (name == "script") ++scripts_;
    if (name == "noscript") in_noscript_ = true;
    if (name == "frameset") framed_ = true;
    if (!in_noscript_ && (name == "img" || name == "video" || name == "object" || name == "embed" ||
                          name == "iframe" || name == "input")) {
      ++pictures_;
    }
    if (name == "app-root") root_ = true;
    if (IsHidden(name) && !tag.self_closing) hidden_ = name;
    for (const html::Attribute& attribute : tag.attributes) {
      if (attribute.name == "id" && IsRoot(attribute.value)) root_ = true;
      if (attribute.name == "http-equiv" && AsciiLower(attribute.value) == "refresh") {
        framed_ = true;
      }
    }
  }
  void OnEndTag(const html::Tag& tag) override {
    if (tag.name == "noscript") in_noscript_ = false;
    if (tag.name == hidden_) hidden_.clear();
  }
  void OnText(std::string_view text, html::SourceRange) override {
    if (!hidden_.empty()) return;
    if (in_noscript_) {
      note_ += text;
      return;
    }
    text_ += CountVisible(text);
  }
  void OnComment(std::string_view, html::SourceRange) override {}
  void OnDoctype(const html::Doctype&) override {}

  std::size_t text() const { return text_; }
  // "root", "noscript" or both, where scripts would have to fill the page; else empty.
  std::string NeedsScript() const {
    if (framed_ || scripts_ == 0 || text_ >= kEmptyTextMax || pictures_ > kEmptyPicturesMax) {
      return "";
    }
    const bool asks = AsciiLower(note_).find("javascript") != std::string::npos;
    if (root_ && asks) return "root+noscript";
    if (root_) return "root";
    return asks ? "noscript" : "";
  }

 private:
  static bool IsHidden(std::string_view name) {
    return name == "script" || name == "style" || name == "title" || name == "template";
  }

  std::size_t text_ = 0;
  int scripts_ = 0;
  int pictures_ = 0;
  bool root_ = false;
  bool framed_ = false;  // or led on: the page is elsewhere
  bool in_noscript_ = false;
  std::string hidden_;  // the element whose text nobody sees
  std::string note_;
};

std::string_view ChallengeIn(const http::Headers& headers) {
  for (const HeaderSign& sign : kHeaderSigns) {
    const std::optional<std::string_view> value = headers.Find(sign.name);
    if (value && AsciiLower(TrimSpace(*value)) == sign.value) return sign.maker;
  }
  return "";
}

std::string_view ChallengeIn(std::span<const Sign> signs, std::string_view content) {
  for (const Sign& sign : signs) {
    if (content.find(sign.text) != std::string_view::npos) return sign.maker;
  }
  return "";
}

std::string SentenceOf(Kind kind, std::string_view why) {
  if (kind == Kind::kChallenge) return fmt::format("it looks like a challenge of {}", why);
  const bool root = why.find("root") != std::string_view::npos;
  const bool note = why.find("noscript") != std::string_view::npos;
  return fmt::format("it has almost no text, but scripts{}{}",
                     root ? ", an element for them to fill" : "",
                     note ? ", a note that asks for JavaScript" : "");
}

constexpr std::array<std::pair<Kind, std::string_view>, 2> kAnnotations = {
    {{Kind::kChallenge, "challenge:"}, {Kind::kNeedsScript, "needsScript:"}}};

}  // namespace

std::string_view NameOf(Kind kind) {
  return kind == Kind::kChallenge ? "challenge" : "needs-script";
}

std::optional<PageTrouble> FindTrouble(int status, const http::Headers& headers,
                                       std::string_view content) {
  content = content.substr(0, kContentBytesMax);
  std::string_view maker = ChallengeIn(headers);
  const bool refuses = Refuses(status);
  if (maker.empty() && refuses) maker = ChallengeIn(kCaptchas, content);
  const Glance glance(content);
  if (maker.empty() && (refuses || glance.text() < kChallengeTextMax)) {
    maker = ChallengeIn(kSigns, content);
  }
  if (!maker.empty()) return PageTrouble{Kind::kChallenge, std::string(maker)};
  constexpr int kOk = 200;
  std::string why = status == kOk ? glance.NeedsScript() : "";
  if (why.empty()) return std::nullopt;
  return PageTrouble{Kind::kNeedsScript, std::move(why)};
}

std::string AnnotationOf(const PageTrouble& trouble) {
  for (const auto& [kind, word] : kAnnotations) {
    if (kind == trouble.kind) return std::string(word) + trouble.why;
  }
  return "";
}

std::optional<PageTrouble> TroubleIn(const crawl_log::Line& line) {
  for (const std::string_view note : line.AnnotationList()) {
    for (const auto& [kind, word] : kAnnotations) {
      if (!note.starts_with(word)) continue;
      return PageTrouble{kind, SentenceOf(kind, note.substr(word.size()))};
    }
  }
  return std::nullopt;
}

std::string_view RemedyFor(Kind kind) {
  if (kind == Kind::kChallenge) {
    return "ask the site to let you in (--contact), go slower (--delay), or give the cookies of a "
           "browser that passed (--cookies)";
  }
  return "capture it with a crawler that runs scripts, and stele import what it writes";
}

}  // namespace stele::crawl
