#include "crawl/known_documents.h"

#include <fmt/format.h>

#include "archive/durable_file.h"

namespace stele::crawl {
namespace {

bool HasIndex(const DuplicateSettings& settings) {
  return settings.match != Match::kOff && !settings.index.empty();
}

}  // namespace

Status KnownDocuments::CheckIndex(io::FileSystem& fs, const DuplicateSettings& settings) {
  KnownDocuments unused;
  return HasIndex(settings) ? unused.OpenIndex(fs, settings) : Status();
}

Status KnownDocuments::OpenIndex(io::FileSystem& fs, const DuplicateSettings& settings) {
  Result<std::unique_ptr<dedup::DigestIndex>> index =
      dedup::DigestIndex::Open(fs, settings.index, cache_);
  if (!index) return index.error();
  index_ = *std::move(index);
  const dedup::DigestIndexSummary& summary = index_->summary();
  const bool by_digest = settings.match != Match::kUrl;
  if (!summary.by_url || (by_digest && !summary.by_digest)) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} cannot be asked by {}; build it with: stele dedup index --by both",
                             settings.index, summary.by_url ? "digest" : "URL")};
  }
  const Status loaded = index_->LoadFilter();
  if (loaded || loaded.error().code != ErrorCode::kCorrupt) return loaded;
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("{} is damaged; build it again with: stele dedup index", settings.index)};
}

Status KnownDocuments::Depend(io::FileSystem& fs, archive::ArchiveWriter& archive,
                              std::uint32_t run, const DuplicateSettings& settings) const {
  const Result<archive::FileFacts> facts = archive::FactsOf(fs, settings.index);
  if (!facts) return facts.error();
  archive::Dependency dependency;
  dependency.run = run;
  dependency.index = settings.index;
  dependency.sha256 = facts->sha256;
  dependency.documents = index_->summary().documents;
  dependency.origin = settings.origin;
  return archive.AddDependency(dependency);
}

Result<std::unique_ptr<KnownDocuments>> KnownDocuments::Open(io::FileSystem& fs,
                                                             archive::ArchiveWriter& archive,
                                                             std::uint32_t run,
                                                             const DuplicateSettings& settings,
                                                             const std::string& scratch) {
  Result<dedup::DuplicateRules> rules = RulesOf(settings);
  if (!rules) return rules.error();
  std::unique_ptr<KnownDocuments> known(new KnownDocuments);
  known->originals_ =
      std::make_unique<dedup::ArchiveOriginals>([&archive] { return archive.View(); });
  if (settings.match == Match::kDigest || settings.match == Match::kAny) {
    Result<std::unique_ptr<store::BlockTable>> digests = store::OpenScratchRocksTable(scratch);
    if (!digests) return digests.error();
    known->digests_ = *std::move(digests);
    const Status loaded = known->originals_->LoadDigests(*known->digests_);
    if (!loaded) return loaded.error();
  }
  if (HasIndex(settings)) {
    Status opened = known->OpenIndex(fs, settings);
    if (opened) opened = known->Depend(fs, archive, run, settings);
    if (!opened) return opened.error();
  }
  known->finder_ = std::make_unique<dedup::DuplicateFinder>(
      *std::move(rules), known->originals_.get(), known->index_.get());
  return known;
}

}  // namespace stele::crawl
