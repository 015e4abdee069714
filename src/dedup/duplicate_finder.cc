#include "dedup/duplicate_finder.h"

#include <array>
#include <mutex>

#include "formats/url/url.h"

namespace stele::dedup {
namespace {

// What is judged, wherever it comes from.
struct Candidate {
  std::string_view url;
  std::string_view type;
  std::uint64_t length = 0;
  bool is_revisit = false;  // its length may not be known
  PayloadDigest digest;
  std::string_view etag;
  std::string_view last_modified;
};

// What one source says about a document.
struct Answer {
  Hit hit = Hit::kNew;
  std::optional<KnownDocument> original;
};

// It is not there, or damaged, which stele verify tells.
bool IsNone(const Status& looked) {
  return !looked && (looked.error().code == ErrorCode::kNotFound ||
                     looked.error().code == ErrorCode::kCorrupt);
}

// The first of them with the payload of `wanted` that can be completed.
Result<std::optional<KnownDocument>> FirstWith(const Candidate& wanted,
                                               std::vector<KnownDocument> documents,
                                               OriginalSource& source) {
  for (KnownDocument& document : documents) {
    if (!document.digest.SameAs(wanted.digest)) continue;
    if (document.is_judged_anew && document.url == wanted.url) continue;
    const Status completed = source.Complete(document);
    if (!completed && !IsNone(completed)) return completed.error();
    // A revisit may claim a digest that its original does not have.
    if (completed && document.digest.SameAs(wanted.digest))
      return std::optional(std::move(document));
  }
  return std::optional<KnownDocument>();
}

class Search {
 public:
  Search(const DuplicateRules& rules, const Candidate& document, OriginalSource& source)
      : rules_(rules), document_(document), source_(source) {}

  Result<Answer> Run() {
    Answer answer;
    if (!source_.MayHave(document_.digest)) return answer;
    if (const Status searched = AtUrls(answer); !searched) return searched.error();
    if (answer.hit != Hit::kNew || rules_.by == DuplicateRules::By::kUrl) return answer;
    if (const Status searched = Take(source_.ByDigest(document_.digest), Hit::kMirror, answer);
        !searched) {
      return searched.error();
    }
    // Elsewhere is not enough: the paper's archive could not say where.
    if (rules_.by == DuplicateRules::By::kDigest) answer.original.reset();
    return answer;
  }

 private:
  Status AtUrls(Answer& answer) {
    const std::string_view url = document_.url;
    const auto newest = source_.NewestWith(url, document_.digest, rules_.try_equivalent);
    if (!newest) return newest.error();
    if (newest->empty()) return {};
    const bool is_exact = !newest->front().is_equivalent;
    Status taken = Take(newest, is_exact ? Hit::kExact : Hit::kEquivalent, answer);
    if (!taken || answer.hit != Hit::kNew) return taken;
    // Another one may have what this one has lost.
    if (is_exact) taken = Take(source_.ByUrl(url), Hit::kExact, answer);
    if (!taken || answer.hit != Hit::kNew || !rules_.try_equivalent) return taken;
    return Take(source_.ByEquivalentUrl(url, document_.digest), Hit::kEquivalent, answer);
  }

  Status Take(OriginalSource::Documents documents, Hit hit, Answer& answer) {
    if (!documents) return documents.error();
    Result<std::optional<KnownDocument>> found =
        FirstWith(document_, *std::move(documents), source_);
    if (!found) return found.error();
    if (!*found) return {};
    answer.hit = hit;
    answer.original = *std::move(found);
    return {};
  }

  const DuplicateRules& rules_;
  const Candidate& document_;
  OriginalSource& source_;
};

}  // namespace

std::string_view DuplicateRules::NameOf(By by) {
  switch (by) {
    case By::kNothing:
      return "nothing";
    case By::kUrl:
      return "url";
    case By::kDigest:
      return "digest";
    case By::kDigestAnyUrl:
      return "digest, any URL";
  }
  return "";
}

class DuplicateFinder::Impl {
 public:
  Impl(DuplicateRules rules, OriginalSource* here, OriginalSource* foreign)
      : rules_(std::move(rules)), sources_({here, foreign}) {}

  Result<Verdict> Judge(const Candidate& document);
  Result<std::optional<KnownDocument>> Known(std::string_view url);
  DedupReport Report() const;

 private:
  bool Handles(const Candidate& document) const {
    const bool has_length = document.length > 0 || !document.is_revisit;
    const bool is_long_enough =
        !has_length || (document.length >= rules_.size_min && document.length > 0);
    return rules_.by != DuplicateRules::By::kNothing && is_long_enough &&
           rules_.media.Takes(document.type);
  }
  // Counts what the headers predict, where the exact URL is known.
  Status Analyse(const Candidate& document, DedupCounts& counts, Verdict& verdict);
  Result<Answer> Ask(const Candidate& document);
  struct Newest {
    OriginalSource* source = nullptr;
    KnownDocument document;
  };
  // Nothing: the URL is not known.
  Result<std::optional<Newest>> NewestOf(std::string_view url, bool with_headers);
  void Count(const Candidate& document, const DedupCounts& counts);

  const DuplicateRules rules_;
  const std::array<OriginalSource*, 2> sources_;
  mutable std::mutex mutex_;
  DedupCounts total_;
  std::map<std::string, DedupCounts> hosts_;
};

Result<std::optional<DuplicateFinder::Impl::Newest>> DuplicateFinder::Impl::NewestOf(
    std::string_view url, bool with_headers) {
  std::optional<Newest> newest;
  for (OriginalSource* source : sources_) {
    if (source == nullptr) continue;
    OriginalSource::Documents documents = source->NewestByUrl(url);
    if (!documents) return documents.error();
    if (documents->empty()) continue;
    KnownDocument& document = documents->front();
    if (newest && document.seen <= newest->document.seen) continue;
    if (with_headers) {
      const Status taken = source->TakeHeaders(document);
      if (!taken && !IsNone(taken)) return taken.error();
      if (!taken) continue;
    }
    newest = Newest{source, std::move(document)};
  }
  return newest;
}

Status DuplicateFinder::Impl::Analyse(const Candidate& document, DedupCounts& counts,
                                      Verdict& verdict) {
  if (rules_.analysis == HeaderAnalysis::kNone) return {};
  const bool with_etag = rules_.analysis == HeaderAnalysis::kTimestampAndEtag;
  Result<std::optional<Newest>> found = NewestOf(document.url, with_etag);
  if (!found) return found.error();
  if (!*found) return {};
  const KnownDocument& newest = (*found)->document;
  const bool has_changed = !newest.digest.SameAs(document.digest);
  const Prediction by_timestamp = PredictByTimestamp(document.last_modified, newest.seen);
  verdict.timestamp_category = CategoryName(by_timestamp, has_changed);
  counts.timestamp.Count(by_timestamp, has_changed);
  if (!with_etag) return {};
  const Prediction by_etag = PredictByEtag(document.etag, newest.etag);
  verdict.etag_category = CategoryName(by_etag, has_changed);
  counts.etag.Count(by_etag, has_changed);
  return {};
}

Result<Answer> DuplicateFinder::Impl::Ask(const Candidate& document) {
  Answer answer;
  for (OriginalSource* source : sources_) {
    if (source == nullptr) continue;
    Result<Answer> here = Search(rules_, document, *source).Run();
    if (!here) return here.error();
    if (here->hit == Hit::kNew) continue;
    if (answer.hit == Hit::kNew || here->original) answer = *std::move(here);
    if (answer.original) break;
  }
  return answer;
}

Result<Verdict> DuplicateFinder::Impl::Judge(const Candidate& document) {
  Verdict verdict;
  if (!Handles(document)) return verdict;
  DedupCounts counts;
  if (const Status analysed = Analyse(document, counts, verdict); !analysed) {
    return analysed.error();
  }
  Result<Answer> answer = Ask(document);
  if (!answer) return answer.error();
  verdict.hit = answer->hit;
  if (const std::optional<KnownDocument>& original = answer->original) {
    verdict.origin = original->origin;
    verdict.is_foreign = !original->capture;
    verdict.original = archive::RevisitOriginal{.url = original->url,
                                                .time = original->time,
                                                .record_id = original->record_id,
                                                .sha1 = original->digest.sha1};
  }
  counts.Count(verdict.hit, verdict.original.has_value(), document.length);
  Count(document, counts);
  return verdict;
}

void DuplicateFinder::Impl::Count(const Candidate& document, const DedupCounts& counts) {
  std::string host;
  if (rules_.per_host) {
    const auto parsed = url::Parse(document.url);
    if (parsed) host = parsed->host();
  }
  const std::lock_guard lock(mutex_);
  total_ += counts;
  if (rules_.per_host) hosts_[host] += counts;
}

Result<std::optional<KnownDocument>> DuplicateFinder::Impl::Known(std::string_view url) {
  Result<std::optional<Newest>> newest = NewestOf(url, true);
  if (!newest) return newest.error();
  std::optional<KnownDocument> known;
  if (!*newest) return known;
  KnownDocument& document = (*newest)->document;
  const Status completed = (*newest)->source->Complete(document);
  // The head of another URL is none for this one, which would have no other.
  if (completed && document.url == url) known = std::move(document);
  if (!completed && !IsNone(completed)) return completed.error();
  return known;
}

DedupReport DuplicateFinder::Impl::Report() const {
  const std::lock_guard lock(mutex_);
  return {.lookup = std::string(DuplicateRules::NameOf(rules_.by)),
          .total = total_,
          .not_modified = 0,
          .left_out = 0,
          .hosts = hosts_};
}

DuplicateFinder::DuplicateFinder(DuplicateRules rules, OriginalSource* here,
                                 OriginalSource* foreign)
    : impl_(std::make_unique<Impl>(std::move(rules), here, foreign)) {}
DuplicateFinder::~DuplicateFinder() = default;

Result<Verdict> DuplicateFinder::Judge(const Downloaded& document) {
  if (document.truncated) return Verdict();
  const archive::ResponseFacts& facts = document.facts;
  return impl_->Judge({.url = document.url,
                       .type = facts.type,
                       .length = facts.payload_length,
                       .is_revisit = false,
                       .digest = {.sha1 = facts.sha1, .sha256 = facts.sha256},
                       .etag = facts.etag,
                       .last_modified = facts.last_modified});
}

Result<Verdict> DuplicateFinder::Judge(const CrawledDocument& document) {
  return impl_->Judge({.url = document.url,
                       .type = document.type,
                       .length = document.length,
                       .is_revisit = document.is_duplicate,
                       .digest = document.known.digest,
                       .etag = document.known.etag,
                       .last_modified = document.known.last_modified});
}
Result<std::optional<KnownDocument>> DuplicateFinder::Known(std::string_view url) {
  return impl_->Known(url);
}
DedupReport DuplicateFinder::Report() const { return impl_->Report(); }

}  // namespace stele::dedup
