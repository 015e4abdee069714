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
  KnownDocuments unused(settings);
  return HasIndex(settings) ? unused.OpenIndex(fs) : Status();
}

Status KnownDocuments::OpenIndex(io::FileSystem& fs) {
  Result<std::unique_ptr<dedup::DigestIndex>> index =
      dedup::DigestIndex::Open(fs, settings_.index, cache_);
  if (!index) return index.error();
  index_ = *std::move(index);
  const bool asks_headers = settings_.headers || settings_.analysis != dedup::HeaderAnalysis::kNone;
  const bool by_url = settings_.match == Match::kUrl;
  return index_->CheckFor(by_url || asks_headers, !by_url);
}

Status KnownDocuments::ReadIndex(io::FileSystem& fs) {
  if (const Status opened = OpenIndex(fs); !opened) return opened;
  const Status loaded = index_->LoadFilter();
  if (loaded || loaded.error().code != ErrorCode::kCorrupt) return loaded;
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("{} is damaged; build it again with: stele dedup index", settings_.index)};
}

Status KnownDocuments::Depend(io::FileSystem& fs, archive::ArchiveWriter& archive,
                              std::uint32_t run) const {
  const Result<archive::FileFacts> facts = archive::FactsOf(fs, settings_.index);
  if (!facts) return facts.error();
  archive::Dependency dependency;
  dependency.run = run;
  dependency.index = settings_.index;
  dependency.sha256 = facts->sha256;
  dependency.documents = index_->summary().documents;
  dependency.origin = settings_.origin;
  return archive.AddDependency(dependency);
}

Result<std::unique_ptr<KnownDocuments>> KnownDocuments::Load(io::FileSystem& fs,
                                                             const DuplicateSettings& settings) {
  Result<dedup::DuplicateRules> rules = RulesOf(settings);
  if (!rules) return rules.error();
  std::unique_ptr<KnownDocuments> known(new KnownDocuments(settings));
  known->rules_ = *std::move(rules);
  if (HasIndex(settings)) {
    if (const Status read = known->ReadIndex(fs); !read) return read.error();
  }
  return known;
}

Status KnownDocuments::Begin(io::FileSystem& fs, archive::ArchiveWriter& archive, std::uint32_t run,
                             const std::string& scratch,
                             const std::vector<catalog::CaptureId>& unfinished) {
  originals_ = std::make_unique<dedup::ArchiveOriginals>([&archive] { return archive.View(); });
  originals_->JudgeAnew(unfinished);
  if (settings_.match == Match::kDigest || settings_.match == Match::kAny) {
    Result<std::unique_ptr<dedup::DigestTable>> digests = dedup::DigestTable::Create(fs, scratch);
    if (!digests) return digests.error();
    digests_ = *std::move(digests);
    if (const Status loaded = originals_->LoadDigests(*digests_); !loaded) return loaded;
  }
  if (index_ != nullptr) {
    if (const Status noted = Depend(fs, archive, run); !noted) return noted;
  }
  finder_ = std::make_unique<dedup::DuplicateFinder>(rules_, originals_.get(), index_.get());
  return {};
}

}  // namespace stele::crawl
