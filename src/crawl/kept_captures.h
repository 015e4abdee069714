#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_view.h"
#include "catalog/capture_id.h"
#include "crawl/frontier.h"
#include "util/result.h"

namespace stele::crawl {

// What an interrupted part of a run captured too late to finish it in the frontier. It is asked for
// once more, for its links and its line in the log, and not stored again.
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

  std::optional<Kept> Of(std::string_view url) const;
  void Finish(std::string_view url);
  std::vector<catalog::CaptureId> ids() const;

  // Becomes durable with the next commit of the frontier.
  void Save(Frontier& frontier) const;

 private:
  std::map<std::string, Kept> captures_;  // by the key that URLs of one page share
};

}  // namespace stele::crawl
