#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "dedup/digest_table.h"
#include "dedup/key_filter.h"
#include "dedup/original_source.h"

namespace stele::dedup {

// What an archive has is its own digest index. URLs are equivalent here when the catalog has them
// under one key (EquivalentRule::kSurt). Thread-safe.
class ArchiveOriginals final : public OriginalSource {
 public:
  // `view` gives the archive as it is now, and is asked again when a capture is newer.
  using CurrentView = std::function<archive::ArchiveView()>;
  explicit ArchiveOriginals(CurrentView view);

  // These come once more, and are no originals of themselves: only what has another URL finds them,
  // by digest. Before any other call.
  void JudgeAnew(const std::vector<catalog::CaptureId>& ids) {
    judged_anew_.insert(ids.begin(), ids.end());
  }

  // Reads all rows into `table`, so that ByDigest() can answer. Before any look-up. Borrows
  // `table`, which is empty and nobody else's, for life. Errors: those of the catalog and the
  // table.
  Status LoadDigests(DigestTable& table);
  // A capture with a payload of its own, which is durable now. Requires: LoadDigests(). What goes
  // wrong is told by ByDigest().
  void Learn(const catalog::CaptureId& id, const PayloadDigest& digest);

  // So many payloads that a run brings find room in the filter before it grows.
  static constexpr std::size_t kFilteredMore = 131'072;
  // Of the filter at most, for twelve million digests; of more, more are asked for in vain.
  static constexpr std::size_t kFilterBytes = std::size_t{24} << 20;

  bool MayHave(const PayloadDigest& digest) const override;
  Documents ByUrl(std::string_view url) override;
  Documents NewestByUrl(std::string_view url) override;
  Documents NewestWith(std::string_view url, const PayloadDigest& digest,
                       bool or_equivalent) override;
  Documents ByEquivalentUrl(std::string_view url, const PayloadDigest& digest) override;
  Documents ByDigest(const PayloadDigest& digest) override;
  Status TakeHeaders(KnownDocument& document) override;
  Status Complete(KnownDocument& document) override;

 private:
  using View = std::shared_ptr<const archive::ArchiveView>;
  View Current() const;
  // Why the table takes no more, when it does not.
  std::optional<Error> HasFailed() const;
  // The row of a capture, in a newer view where the present one has none.
  Result<catalog::HeldCapture> Get(const catalog::CaptureId& id);
  // Gives the newest whole captures under the key of a URL, until `visit` returns false.
  Status VisitKeyOf(std::string_view url,
                    const std::function<bool(const catalog::Capture& row)>& visit);

  const CurrentView current_view_;
  std::set<catalog::CaptureId> judged_anew_;
  // Of all captures, the digests: SHA-256, or SHA-1 where there is no other.
  std::unique_ptr<KeyFilter> filter_;
  bool has_only_sha1_ = false;    // some have no other
  DigestTable* table_ = nullptr;  // by SHA-256
  mutable std::mutex mutex_;      // of all below
  View view_;
  std::optional<Error> failed_;
};

}  // namespace stele::dedup
