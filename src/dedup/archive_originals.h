#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "archive/archive_view.h"
#include "dedup/original_source.h"

namespace stele::dedup {

// What an archive has is its own digest index. URLs are equivalent here when the catalog has them
// under one key (EquivalentRule::kSurt). Thread-safe.
class ArchiveOriginals final : public OriginalSource {
 public:
  // `view` gives the archive as it is now, and is asked again when a capture is newer.
  using CurrentView = std::function<archive::ArchiveView()>;
  explicit ArchiveOriginals(CurrentView view);

  // Reads all rows, so that ByDigest() can answer; else it knows only what it learned. About 16
  // bytes of memory for a capture. Before any other call. Errors: those of the catalog.
  Status LoadDigests();
  // A capture with a payload of its own, which is durable now.
  void Learn(const catalog::CaptureId& id, const PayloadDigest& digest);

  Documents ByUrl(std::string_view url) override;
  Documents ByEquivalentUrl(std::string_view url, const PayloadDigest& digest) override;
  Documents ByDigest(const PayloadDigest& digest) override;
  Status TakeHeaders(KnownDocument& document) override;
  Status Complete(KnownDocument& document) override;

 private:
  using View = std::shared_ptr<const archive::ArchiveView>;
  View Current() const;
  // The row of a capture, in a newer view where the present one has none.
  Result<catalog::HeldCapture> Get(const catalog::CaptureId& id);
  // The newest captures under the key of a URL: of exactly this URL, or of others.
  Documents AtKeyOf(std::string_view url, bool exactly);

  const CurrentView current_view_;
  mutable std::mutex mutex_;  // of all below
  View view_;
  std::vector<std::pair<std::uint64_t, catalog::CaptureId>> digests_;  // sorted
  std::unordered_map<std::uint64_t, catalog::CaptureId> learned_;
};

}  // namespace stele::dedup
