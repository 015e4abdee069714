#include "formats/crawl_log/duplicate.h"

#include <nlohmann/json.hpp>

namespace stele::crawl_log {
namespace {

using nlohmann::json;

std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::uint64_t> Number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::string Unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

struct Word {
  std::string_view annotation;
  DuplicateKind kind;
  bool any_url;
};

// Every fixed annotation that means a duplicate. The comments say who writes or wrote it.
constexpr Word kWords[] = {
    {"duplicate", DuplicateKind::kDigest, false},                           // DeDuplicator to 3.0
    {"duplicate:digest", DuplicateKind::kDigest, true},                     // Heritrix 3, warcprox
    {"duplicate:uriAgnosticDigest", DuplicateKind::kDigest, true},          // Heritrix 3.1, 3.2
    {"duplicate:server-not-modified", DuplicateKind::kNotModified, false},  // Heritrix 3
    {"warcRevisit:digest", DuplicateKind::kDigest, false},                  // Heritrix 3.1, 3.2
    {"warcRevisit:uriAgnosticDigest", DuplicateKind::kDigest, true},        // Heritrix 3.1, 3.2
    {"warcRevisit:notModified", DuplicateKind::kNotModified, false},        // Heritrix 3.1, 3.2
    {"unwritten:identicalDigest", DuplicateKind::kDigest, false},           // Heritrix, not stored
    {"Revisit:IdenticalPayloadDigest", DuplicateKind::kDigest, true},       // DeDuplicator 3.1
    {"header-duplicate", DuplicateKind::kHeader, false},                    // DeDupFetchHTTP
};

void Mark(std::optional<Duplicate>& duplicate, DuplicateKind kind, bool any_url) {
  if (!duplicate) duplicate.emplace();
  duplicate->kind = kind;
  duplicate->any_url = any_url;
}

void ReadAnnotation(std::string_view annotation, std::optional<Duplicate>& duplicate) {
  constexpr std::string_view kOrigin = "duplicate:";
  constexpr std::string_view kEquivalent = "equivalentURL:";
  for (const Word& word : kWords) {
    if (annotation == word.annotation) return Mark(duplicate, word.kind, word.any_url);
  }
  if (annotation.starts_with(kOrigin)) {
    Mark(duplicate, DuplicateKind::kDigest, false);
    duplicate->origin = Unquoted(annotation.substr(kOrigin.size()));
  } else if (annotation.starts_with(kEquivalent)) {
    Mark(duplicate, DuplicateKind::kDigest, true);
    duplicate->original_uri = Unquoted(annotation.substr(kEquivalent.size()));
  }
}

}  // namespace

std::optional<Extra> ParseExtra(std::string_view text) {
  // Only members of the object itself are kept, so that deep nesting costs nothing.
  const auto top_level_only = [](int depth, json::parse_event_t, json&) { return depth <= 1; };
  const json object = json::parse(text.begin(), text.end(), top_level_only, false);
  if (!object.is_object()) return std::nullopt;
  Extra extra;
  extra.content_size = Number(object, "contentSize");
  extra.warc_filename = Text(object, "warcFilename");
  extra.warc_offset = Number(object, "warcFileOffset");
  extra.arc_filename = Text(object, "arcFilename");
  extra.etag = Text(object, "etag");
  extra.last_modified = Text(object, "lastModified");
  extra.revisit_profile = Text(object, "RevisitProfile");
  extra.revisit_refers_to_uri = Text(object, "RevisitRefersToURI");
  extra.revisit_refers_to_date = Text(object, "RevisitRefersToDate");
  extra.revisit_origin = Text(object, "RevisitOrigin");
  extra.payload_size = Number(object, "payloadSize");
  extra.hit = Text(object, "hit");
  extra.timestamp_predicts = Text(object, "timestampPredicts");
  extra.etag_predicts = Text(object, "etagPredicts");
  return extra;
}

std::optional<Duplicate> FindDuplicate(const Line& line) {
  std::optional<Duplicate> duplicate;
  for (std::string_view annotation : line.AnnotationList()) ReadAnnotation(annotation, duplicate);
  if (line.extra.find("\"Revisit") == line.extra.npos) return duplicate;
  const std::optional<Extra> extra = ParseExtra(line.extra);
  if (!extra) return duplicate;
  if (!extra->revisit_profile.empty()) {
    const bool not_modified = extra->revisit_profile.ends_with("server-not-modified");
    const bool any_url = duplicate ? duplicate->any_url : !not_modified;
    Mark(duplicate, not_modified ? DuplicateKind::kNotModified : DuplicateKind::kDigest, any_url);
  }
  if (!duplicate) return duplicate;
  if (!extra->revisit_refers_to_uri.empty()) duplicate->original_uri = extra->revisit_refers_to_uri;
  duplicate->original_date = extra->revisit_refers_to_date;
  if (!extra->revisit_origin.empty()) duplicate->origin = extra->revisit_origin;
  return duplicate;
}

}  // namespace stele::crawl_log
