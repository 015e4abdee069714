#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/archive_view.h"
#include "dedup/key_filter.h"
#include "dedup/original_source.h"
#include "store/container_table.h"

namespace stele::dedup {

// What an archive has is its own digest index. URLs are equivalent here when the catalog has them
// under one key (EquivalentRule::kSurt). Thread-safe.
class ArchiveOriginals final : public OriginalSource {
 public:
  // `view` gives the archive as it is now, and is asked again when a capture is newer.
  using CurrentView = std::function<archive::ArchiveView()>;
  explicit ArchiveOriginals(CurrentView view);

  // These are no originals, and nobody finds them here, but by Learn(). Before any other call.
  void Hide(const std::vector<catalog::CaptureId>& ids) { hidden_.insert(ids.begin(), ids.end()); }

  // Reads all rows into `table`, so that ByDigest() can answer. Before any look-up. Borrows
  // `table`, which is empty and nobody else's, for life; memory does not grow with the archive.
  // Errors: those of the catalog and the table.
  Status LoadDigests(store::BlockTable& table);
  // A capture with a payload of its own, which is durable now. Requires: LoadDigests(). What goes
  // wrong is told by ByDigest().
  void Learn(const catalog::CaptureId& id, const PayloadDigest& digest);

  // In memory, before they go to the table: most crawls never write there.
  static constexpr std::size_t kLearnedMax = 131'072;
  // At most, for twelve million digests; of more, more are asked for in vain.
  static constexpr std::size_t kFilterBytes = std::size_t{16} << 20;

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
  // The row of a capture, in a newer view where the present one has none.
  Result<catalog::HeldCapture> Get(const catalog::CaptureId& id);
  // Gives the newest whole captures under the key of a URL, until `visit` returns false.
  Status VisitKeyOf(std::string_view url,
                    const std::function<bool(const catalog::Capture& row)>& visit);
  // By the digest, shortened, the newest capture that has it.
  using Learned = std::unordered_map<std::string, catalog::CaptureId>;
  Status Write(const Learned& learned);

  const CurrentView current_view_;
  std::set<catalog::CaptureId> hidden_;
  // Of all captures, the digests, shortened: SHA-256, or SHA-1 where there is no other.
  std::unique_ptr<KeyFilter> filter_;
  bool has_only_sha1_ = false;  // some have no other
  mutable std::mutex mutex_;    // of all below
  View view_;
  store::BlockTable* table_ = nullptr;  // rows as in Learned
  Learned learned_;                     // rows that it has not yet
  Learned leaving_;                     // rows that are being written to it
  std::optional<Error> failed_;         // it does not take them
};

}  // namespace stele::dedup
