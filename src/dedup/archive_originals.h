#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

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

  // Reads all rows into `table`, so that ByDigest() can answer. Before any other call. Borrows
  // `table`, which is empty and nobody else's, for life; memory does not grow with the archive.
  // Errors: those of the catalog and the table.
  Status LoadDigests(store::BlockTable& table);
  // A capture with a payload of its own, which is durable now. Requires: LoadDigests(). What goes
  // wrong is told by the next ByDigest().
  void Learn(const catalog::CaptureId& id, const PayloadDigest& digest);

  static constexpr std::size_t kLearnedMax = 4'096;  // in memory
  // Enough for twelve million digests; of more, more are asked for in vain.
  static constexpr std::size_t kFilterBytes = std::size_t{16} << 20;

  Documents ByUrl(std::string_view url) override;
  Documents NewestByUrl(std::string_view url) override;
  Documents NewestByUrl(std::string_view url, const PayloadDigest& digest) override;
  Documents ByEquivalentUrl(std::string_view url, const PayloadDigest& digest) override;
  Documents ByDigest(const PayloadDigest& digest) override;
  Status TakeHeaders(KnownDocument& document) override;
  Status Complete(KnownDocument& document) override;

 private:
  using View = std::shared_ptr<const archive::ArchiveView>;
  View Current() const;
  // The row of a capture, in a newer view where the present one has none.
  Result<catalog::HeldCapture> Get(const catalog::CaptureId& id);
  // The newest captures under the key of a URL: of exactly this URL, or of others; with this
  // payload, where one is given.
  Documents AtKeyOf(std::string_view url, bool exactly, std::size_t max,
                    const PayloadDigest* digest = nullptr);

  const CurrentView current_view_;
  std::unique_ptr<KeyFilter> filter_;  // which digests the table may have
  mutable std::mutex mutex_;           // of all below
  View view_;
  store::BlockTable* table_ = nullptr;  // digests, shortened, and the newest capture that has it
  store::BlockTable::Changes learned_;  // rows that it has not yet
  std::optional<Error> failed_;         // it does not take them
};

}  // namespace stele::dedup
