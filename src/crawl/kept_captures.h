#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_view.h"
#include "catalog/capture_id.h"
#include "crawl/frontier.h"
#include "util/result.h"

namespace stele::crawl {

// What an interrupted part of a run captured too late to finish it in the frontier. Its links and
// its line in the log are those of the stored copy; where it is not whole, it is asked for again.
class KeptCaptures {
 public:
  struct Kept {
    catalog::CaptureId id;
    bool is_cut = false;  // the archive has only a part of it

    friend bool operator==(const Kept&, const Kept&) = default;
  };

  // Of run `run`, by the notes of its frontier and the captures that came after them. Errors: those
  // of both.
  static Result<KeptCaptures> Find(Frontier& frontier, const archive::ArchiveView& view,
                                   std::uint32_t run);

  // The last one of a URL that nobody took.
  std::optional<Kept> Of(std::string_view url) const;
  // It gets a line in the log of its own: it is not given again, and saved until it is finished.
  void Take(const Kept& kept) { taken_.insert(kept.id); }
  // Takes those that are not the last: it was cut off, and captured once more.
  std::vector<Kept> TakeEarlier(std::string_view url);
  void Finish(std::string_view url, const catalog::CaptureId& id);
  std::vector<catalog::CaptureId> ids() const;

  // Becomes durable with the next commit of the frontier.
  void Save(Frontier& frontier) const;

 private:
  std::string KeyOf(std::string_view url) const;
  void Add(std::string key, const Kept& kept);

  // By the key that URLs of one page share, in the order in which they came; by its URL where a
  // session began.
  std::multimap<std::string, Kept> captures_;
  std::set<catalog::CaptureId> taken_;  // of them
};

// False: it repeats what is kept elsewhere, and where its payload leads nobody knows. True also
// where that cannot be found out: whoever reads it is told.
bool HasItsPayload(const archive::ArchiveView& view, const catalog::CaptureId& id);

}  // namespace stele::crawl
