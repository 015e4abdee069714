// URLs and payloads are numbers of 64 bits here: sorted lists of them are compared. A revisit knows
// the SHA-1 that it claims only, so a table leads from there to the payload that has it.
#include "study/duplicates.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "util/checksum.h"
#include "util/coding.h"

namespace stele::study {
namespace {

struct UrlDocument {
  std::uint64_t url = 0;
  std::uint64_t document = 0;
  Timestamp time;
};

template <std::size_t kSize>
std::uint64_t Shortened(const std::array<char, kSize>& digest) {
  return ByteReader({digest.data(), digest.size()}).Fixed64();
}

// A crawl, read and sorted.
struct Crawl {
  std::vector<UrlDocument> visits;       // of each URL the last, by URL
  std::vector<std::uint64_t> documents;  // different ones, sorted
  std::optional<Timestamp> begin;

  bool HasDocument(std::uint64_t document) const {
    return std::binary_search(documents.begin(), documents.end(), document);
  }
  bool HasUrl(std::uint64_t url) const {
    const auto at = std::lower_bound(visits.begin(), visits.end(), url,
                                     [](const auto& visit, auto key) { return visit.url < key; });
    return at != visits.end() && at->url == url;
  }
};

class Study {
 public:
  Study(const archive::ArchiveView& view, const std::vector<StudiedCrawl>& crawls,
        const archive::CaptureQuery& filter)
      : view_(view), studied_(crawls), filter_(filter), crawls_(crawls.size()) {}

  Result<std::vector<CrawlDuplication>> Run() {
    // All payloads first: a revisit may come before its original in the order of ids.
    const Status known = ForEachRow({}, [&](const catalog::Capture& row) {
      if (row.sha1 && row.sha256 && (row.flags & catalog::kRevisit) == 0) {
        payload_of_sha1_.emplace(Shortened(*row.sha1), Shortened(*row.sha256));
      }
    });
    if (!known) return known.error();
    const Status read = ForEachRow(filter_.where.what, [&](const catalog::Capture& row) {
      if (filter_.Matches(row)) Take(row);
    });
    if (!read) return read.error();
    std::vector<CrawlDuplication> results;
    for (std::size_t i = 0; i < crawls_.size(); ++i) {
      Sort(crawls_[i]);
      results.push_back(Compare(i));
    }
    return results;
  }

 private:
  Status ForEachRow(std::optional<catalog::Selection> what,
                    const std::function<void(const catalog::Capture&)>& take) {
    catalog::CaptureScan::Query query;
    query.what = std::move(what);
    catalog::CaptureScan scan = view_.catalog().Scan(query);
    for (;;) {
      Result<const catalog::Capture*> row = scan.Next();
      if (!row) return row.error();
      if (*row == nullptr) return {};
      take(**row);
    }
  }

  // Nothing for an empty payload, and where nobody says what it is.
  std::optional<std::uint64_t> DocumentOf(const catalog::Capture& row) const {
    if ((row.flags & catalog::kRevisit) == 0 && row.length == 0) return std::nullopt;
    if (row.sha256) return Shortened(*row.sha256);
    if (!row.sha1) return std::nullopt;
    const std::uint64_t sha1 = Shortened(*row.sha1);
    const auto payload = payload_of_sha1_.find(sha1);
    return payload == payload_of_sha1_.end() ? sha1 : payload->second;
  }

  void Take(const catalog::Capture& row) {
    const std::optional<std::uint64_t> document = DocumentOf(row);
    if (!document) return;
    for (std::size_t i = 0; i < studied_.size(); ++i) {
      const bool is_of = (!studied_[i].run || *studied_[i].run == row.run) &&
                         (!studied_[i].batch || *studied_[i].batch == row.id.batch);
      if (!is_of) continue;
      Crawl& crawl = crawls_[i];
      crawl.visits.push_back({ChecksumOf(row.url), *document, row.time});
      if (!crawl.begin || row.time < *crawl.begin) crawl.begin = row.time;
    }
  }

  static void Sort(Crawl& crawl) {
    std::vector<UrlDocument>& visits = crawl.visits;
    std::stable_sort(visits.begin(), visits.end(), [](const auto& a, const auto& b) {
      return a.url != b.url ? a.url < b.url : a.time > b.time;
    });
    const auto same_url = [](const auto& a, const auto& b) { return a.url == b.url; };
    visits.erase(std::unique(visits.begin(), visits.end(), same_url), visits.end());
    for (const UrlDocument& visit : visits) crawl.documents.push_back(visit.document);
    std::sort(crawl.documents.begin(), crawl.documents.end());
    crawl.documents.erase(std::unique(crawl.documents.begin(), crawl.documents.end()),
                          crawl.documents.end());
  }

  // Those before it are sorted.
  CrawlDuplication Compare(std::size_t number) const {
    const Crawl& crawl = crawls_[number];
    CrawlDuplication result;
    result.name = studied_[number].name;
    result.begin = crawl.begin;
    result.urls = crawl.visits.size();
    result.within = crawl.visits.size() - crawl.documents.size();
    result.in_each.resize(number);
    for (const UrlDocument& visit : crawl.visits) {
      bool was_there = false;
      for (std::size_t before = 0; before < number; ++before) {
        const bool is_there = crawls_[before].HasDocument(visit.document);
        if (is_there) ++result.in_each[before];
        was_there = was_there || is_there;
      }
      if (was_there) ++result.earlier;
      if (number > 0 && crawls_[number - 1].HasUrl(visit.url)) ++result.persistent;
    }
    if (number > 0) result.last_crawl = result.in_each.back();
    return result;
  }

  const archive::ArchiveView& view_;
  const std::vector<StudiedCrawl>& studied_;
  const archive::CaptureQuery& filter_;
  std::unordered_map<std::uint64_t, std::uint64_t> payload_of_sha1_;
  std::vector<Crawl> crawls_;
};

}  // namespace

Result<std::vector<CrawlDuplication>> StudyDuplicates(const archive::ArchiveView& view,
                                                      const std::vector<StudiedCrawl>& crawls,
                                                      const archive::CaptureQuery& filter) {
  return Study(view, crawls, filter).Run();
}

}  // namespace stele::study
