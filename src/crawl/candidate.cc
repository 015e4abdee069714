#include "crawl/candidate.h"

#include <algorithm>
#include <array>
#include <vector>

#include "util/ascii.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::uint8_t kLastPriority = 255;
constexpr std::uint64_t kSeedBit = 1;
constexpr std::uint64_t kLinksOnlyBit = 2;
// Tries and waits are one number in a row.
constexpr int kWaitsShift = 32;

bool IsPageHop(char hop) { return hop == 'L' || hop == 'M'; }

// It was named so, or is where something that was is redirected to.
bool IsBehindRedirects(std::string_view hops, char hop) {
  const std::size_t last = hops.find_last_not_of('R');
  return last != std::string_view::npos && hops[last] == hop;
}

// As of 32 letters and digits, which no person chose; a UUID or some words may name a page.
bool LooksRandom(std::string_view value) {
  constexpr std::size_t kRandomBytesMin = 32;
  return value.size() >= kRandomBytesMin && std::all_of(value.begin(), value.end(), IsAsciiAlnum) &&
         std::any_of(value.begin(), value.end(), IsAsciiDigit);
}

// Arguments that name a visit, not a page.
bool IsSessionArgument(std::string_view argument) {
  constexpr std::size_t kSessionBytesMin = 16;
  constexpr std::array<std::string_view, 4> kOftenSessions = {"sid", "sessionid", "session_id",
                                                              "sessid"};
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string name = AsciiLower(argument.substr(0, equals));
  const std::string_view value = argument.substr(equals + 1);
  if (name.starts_with("aspsessionid")) return true;
  if (name == "cfid" || name == "cftoken") return !value.empty();
  if (name == "jsessionid" || name == "phpsessid") return value.size() >= kSessionBytesMin;
  return LooksRandom(value) &&
         std::find(kOftenSessions.begin(), kOftenSessions.end(), name) != kOftenSessions.end();
}

// What ASP.NET puts into paths: "(lit3py55t21z5v55vlm25s55)", "(S(lit3py55t21z5v55vlm25s55))".
bool IsSessionFolder(std::string_view folder) {
  constexpr std::size_t kSessionBytes = 24;
  if (folder.size() < kSessionBytes + 2 || folder.front() != '(' || folder.back() != ')') {
    return false;
  }
  std::string_view inside = folder.substr(1, folder.size() - 2);
  if (inside.size() == kSessionBytes)
    return std::all_of(inside.begin(), inside.end(), IsAsciiAlnum);
  const bool is_marked = IsAsciiAlpha(inside[0]) && inside[1] == '(' && inside.back() == ')';
  return is_marked && inside.size() >= kSessionBytes + 3;
}

// "/a;jsessionid=0123456789ABCDEF" is "/a".
std::string WithoutPathSession(std::string_view path) {
  const std::size_t at = path.rfind(';');
  if (at != std::string_view::npos && IsSessionArgument(path.substr(at + 1))) {
    path = path.substr(0, at);
  }
  if (path.find("/(") == std::string_view::npos) return std::string(path);
  std::string without;
  for (const std::string_view folder : Split(path, '/')) {
    if (IsSessionFolder(folder)) continue;
    if (folder.data() != path.data()) without += '/';
    without += folder;
  }
  return without;
}

}  // namespace

std::size_t Candidate::depth() const {
  return static_cast<std::size_t>(std::count(hops.begin(), hops.end(), 'L'));
}

std::size_t Candidate::embed_hops() const {
  const auto page = std::find_if(hops.rbegin(), hops.rend(), IsPageHop);
  const std::string_view since(page.base(), hops.end());
  const bool needed = since.find_first_not_of('R') != std::string_view::npos;
  return needed ? since.size() : 0;
}

bool Candidate::is_embed() const { return IsBehindRedirects(hops, 'E'); }

bool Candidate::is_inferred() const { return IsBehindRedirects(hops, 'I'); }

bool Candidate::is_sitemap() const { return IsBehindRedirects(hops, 'M'); }

std::uint8_t PriorityOf(const Candidate& candidate) {
  if (candidate.tries > 0 || candidate.waits > 0) return kLastPriority;
  if (candidate.seed) return 0;
  if (candidate.hops.ends_with('R') || !candidate.is_page()) return 1;
  return static_cast<std::uint8_t>(std::min<std::size_t>(2 + candidate.depth(), kLastPriority - 1));
}

std::string EncodeCandidate(const Candidate& candidate) {
  std::string out;
  PutSized(out, candidate.url);
  PutSized(out, candidate.via);
  PutSized(out, candidate.hops);
  PutSized(out, candidate.source);
  PutVarint(out, (candidate.seed ? kSeedBit : 0) | (candidate.links_only ? kLinksOnlyBit : 0));
  PutVarint(out, std::uint64_t{candidate.waits} << kWaitsShift | candidate.tries);
  return out;
}

Result<Candidate> DecodeCandidate(std::string_view bytes) {
  ByteReader in(bytes);
  Candidate candidate;
  candidate.url = in.Sized();
  candidate.via = in.Sized();
  candidate.hops = in.Sized();
  candidate.source = in.Sized();
  const std::uint64_t bits = in.Varint();
  candidate.seed = (bits & kSeedBit) != 0;
  candidate.links_only = (bits & kLinksOnlyBit) != 0;
  const std::uint64_t again = in.Varint();
  candidate.tries = static_cast<std::uint32_t>(again);
  candidate.waits = static_cast<std::uint32_t>(again >> kWaitsShift);
  if (!in.good() || !in.AtEnd()) {
    return Error{ErrorCode::kCorrupt, "a URL in the frontier cannot be read"};
  }
  return candidate;
}

std::string SeenKey(std::string_view url) {
  const std::size_t question = url.find('?');
  std::string key = WithoutPathSession(url.substr(0, question));
  if (question == std::string_view::npos) return key;
  char before = '?';
  for (const std::string_view argument : Split(url.substr(question + 1), '&')) {
    if (IsSessionArgument(argument)) continue;
    key += before;
    key += argument;
    before = '&';
  }
  return key;
}

bool BeginsSession(std::string_view from, std::string_view to) {
  const std::string key = SeenKey(to);
  return key != to && key == from;
}

std::string SeenKeyOf(const Candidate& candidate) {
  const bool begins = candidate.hops.ends_with('R') && BeginsSession(candidate.via, candidate.url);
  return begins ? candidate.url : SeenKey(candidate.url);
}

}  // namespace stele::crawl
