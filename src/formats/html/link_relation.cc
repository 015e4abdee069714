#include "formats/html/link_relation.h"

#include <algorithm>
#include <array>

#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr auto kEmbedding = std::to_array<std::string_view>({
    "stylesheet",
    "icon",
    "apple-touch-icon",
    "apple-touch-icon-precomposed",
    "apple-touch-startup-image",
    "mask-icon",
    "fluid-icon",
    "preload",
    "modulepreload",
    "prefetch",
    "prerender",
    "manifest",
    "image_src",
});

constexpr auto kNamesNoDocument = std::to_array<std::string_view>({
    "dns-prefetch",
    "preconnect",
    "pingback",
    "profile",
    "hub",
    "webmention",
    "micropub",
    "authorization_endpoint",
    "token_endpoint",
});

template <typename List>
bool Contains(const List& list, std::string_view word) {
  return std::ranges::any_of(
      list, [word](std::string_view item) { return EqualsIgnoreCase(item, word); });
}

template <typename Visit>
void ForEachWord(std::string_view text, Visit visit) {
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && (IsAsciiSpace(text[at]) || text[at] == ',')) ++at;
    const std::size_t start = at;
    while (at < text.size() && !IsAsciiSpace(text[at]) && text[at] != ',') ++at;
    if (at > start) visit(text.substr(start, at - start));
  }
}

}  // namespace

std::optional<Hop> HopForRelation(std::string_view rel) {
  bool embeds = false, names_document = false, any = false;
  ForEachWord(rel, [&](std::string_view word) {
    any = true;
    if (Contains(kEmbedding, word)) embeds = true;
    if (!Contains(kNamesNoDocument, word)) names_document = true;
  });
  if (embeds) return Hop::kEmbed;
  if (any && !names_document) return std::nullopt;
  return Hop::kNavigation;
}

bool IsNofollowRelation(std::string_view rel) {
  bool found = false;
  ForEachWord(rel, [&](std::string_view word) {
    found |= EqualsIgnoreCase(word, "nofollow") || EqualsIgnoreCase(word, "ugc") ||
             EqualsIgnoreCase(word, "sponsored");
  });
  return found;
}

RobotsDirectives ParseRobotsDirectives(std::string_view value) {
  RobotsDirectives directives;
  ForEachWord(value, [&](std::string_view word) {
    const bool none = EqualsIgnoreCase(word, "none");
    directives.nofollow |= none || EqualsIgnoreCase(word, "nofollow");
    directives.noindex |= none || EqualsIgnoreCase(word, "noindex");
  });
  return directives;
}

}  // namespace stele::html
