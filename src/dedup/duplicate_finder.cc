#include "dedup/duplicate_finder.h"

#include <array>
#include <mutex>

#include "formats/url/url.h"

namespace stele::dedup {
namespace {

std::string_view LookupName(DuplicateRules::By by) {
  switch (by) {
    case DuplicateRules::By::kUrl:
      return "url";
    case DuplicateRules::By::kDigest:
      return "digest";
    case DuplicateRules::By::kDigestAnyUrl:
      return "digest, any URL";
  }
  return "";
}

// What is judged, wherever it comes from.
struct Candidate {
  std::string_view url;
  std::string_view type;
  std::uint64_t length = 0;
  PayloadDigest digest;
  std::string_view etag;
  std::string_view last_modified;
};

// What one source says about a document.
struct Answer {
  Hit hit = Hit::kNew;
  std::optional<KnownDocument> original;
};

// The first of them with this payload that can be completed.
Result<std::optional<KnownDocument>> FirstWith(const PayloadDigest& digest,
                                               std::vector<KnownDocument> documents,
                                               OriginalSource& source) {
  for (KnownDocument& document : documents) {
    if (!document.digest.SameAs(digest)) continue;
    const Status completed = source.Complete(document);
    if (!completed && completed.error().code != ErrorCode::kNotFound) return completed.error();
    // A revisit may claim a digest that its original does not have.
    if (completed && document.digest.SameAs(digest)) return std::optional(std::move(document));
  }
  return std::optional<KnownDocument>();
}

class Search {
 public:
  Search(const DuplicateRules& rules, const Candidate& document, OriginalSource& source)
      : rules_(rules), document_(document), source_(source) {}

  Result<Answer> Run() {
    Answer answer;
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
    const Status exact = Take(source_.ByUrl(document_.url), Hit::kExact, answer);
    if (!exact || answer.hit != Hit::kNew || !rules_.try_equivalent) return exact;
    return Take(source_.ByEquivalentUrl(document_.url, document_.digest), Hit::kEquivalent, answer);
  }

  Status Take(OriginalSource::Documents documents, Hit hit, Answer& answer) {
    if (!documents) return documents.error();
    Result<std::optional<KnownDocument>> found =
        FirstWith(document_.digest, *std::move(documents), source_);
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

class DuplicateFinder::Impl {
 public:
  Impl(DuplicateRules rules, OriginalSource* here, OriginalSource* foreign)
      : rules_(std::move(rules)), sources_({here, foreign}) {}

  Result<Verdict> Judge(const Candidate& document);
  Result<std::optional<KnownDocument>> Known(std::string_view url);
  DedupReport Report() const;

 private:
  bool Handles(const Candidate& document) const {
    return document.length >= rules_.size_min && document.length > 0 &&
           rules_.media.Takes(document.type);
  }
  // Counts what the headers predict, where the exact URL is known.
  Status Analyse(const Candidate& document, DedupCounts& counts);
  Result<std::optional<KnownDocument>> NewestOf(std::string_view url, bool complete);
  void Count(const Candidate& document, const DedupCounts& counts);

  const DuplicateRules rules_;
  const std::array<OriginalSource*, 2> sources_;
  mutable std::mutex mutex_;
  DedupCounts total_;
  std::map<std::string, DedupCounts> hosts_;
};

Result<std::optional<KnownDocument>> DuplicateFinder::Impl::NewestOf(std::string_view url,
                                                                     bool complete) {
  std::optional<KnownDocument> newest;
  for (OriginalSource* source : sources_) {
    if (source == nullptr) continue;
    OriginalSource::Documents documents = source->ByUrl(url);
    if (!documents) return documents.error();
    if (documents->empty()) continue;
    KnownDocument& document = documents->front();
    if (newest && document.seen <= newest->seen) continue;
    if (complete) {
      const Status completed = source->Complete(document);
      if (!completed && completed.error().code != ErrorCode::kNotFound) return completed.error();
      if (!completed) continue;
    }
    newest = std::move(document);
  }
  return newest;
}

Status DuplicateFinder::Impl::Analyse(const Candidate& document, DedupCounts& counts) {
  if (rules_.analysis == HeaderAnalysis::kNone) return {};
  const bool with_etag = rules_.analysis == HeaderAnalysis::kTimestampAndEtag;
  Result<std::optional<KnownDocument>> newest = NewestOf(document.url, with_etag);
  if (!newest) return newest.error();
  if (!*newest) return {};
  const bool has_changed = !(*newest)->digest.SameAs(document.digest);
  counts.timestamp.Count(PredictByTimestamp(document.last_modified, (*newest)->seen), has_changed);
  if (with_etag) {
    counts.etag.Count(PredictByEtag(document.etag, (*newest)->etag), has_changed);
  }
  return {};
}

Result<Verdict> DuplicateFinder::Impl::Judge(const Candidate& document) {
  Verdict verdict;
  if (!Handles(document)) return verdict;
  DedupCounts counts;
  counts.handled = 1;
  counts.handled_bytes = document.length;
  if (const Status analysed = Analyse(document, counts); !analysed) return analysed.error();
  Answer answer;
  for (OriginalSource* source : sources_) {
    if (source == nullptr) continue;
    Result<Answer> here = Search(rules_, document, *source).Run();
    if (!here) return here.error();
    if (here->hit == Hit::kNew) continue;
    if (answer.hit == Hit::kNew || here->original) answer = *std::move(here);
    if (answer.original) break;
  }
  verdict.hit = answer.hit;
  if (answer.original) {
    ++counts.duplicates;
    counts.duplicate_bytes = document.length;
    verdict.origin = answer.original->origin;
    verdict.original = archive::RevisitOriginal{.url = answer.original->url,
                                                .time = answer.original->time,
                                                .record_id = answer.original->record_id,
                                                .sha1 = answer.original->digest.sha1};
  } else {
    ++counts.fresh;
  }
  if (answer.hit == Hit::kExact) ++counts.exact;
  if (answer.hit == Hit::kEquivalent) ++counts.equivalent;
  if (answer.hit == Hit::kMirror) ++counts.mirrors;
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
  return NewestOf(url, true);
}

DedupReport DuplicateFinder::Impl::Report() const {
  const std::lock_guard lock(mutex_);
  return {.lookup = std::string(LookupName(rules_.by)),
          .mirrors_are_duplicates = rules_.by == DuplicateRules::By::kDigestAnyUrl,
          .total = total_,
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
                       .digest = {.sha1 = facts.sha1, .sha256 = facts.sha256},
                       .etag = facts.etag,
                       .last_modified = facts.last_modified});
}

Result<Verdict> DuplicateFinder::Judge(const CrawledDocument& document) {
  return impl_->Judge({.url = document.url,
                       .type = document.type,
                       .length = document.length,
                       .digest = document.known.digest,
                       .etag = document.known.etag,
                       .last_modified = document.known.last_modified});
}
Result<std::optional<KnownDocument>> DuplicateFinder::Known(std::string_view url) {
  return impl_->Known(url);
}
DedupReport DuplicateFinder::Report() const { return impl_->Report(); }

}  // namespace stele::dedup
