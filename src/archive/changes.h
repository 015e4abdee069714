#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "archive/archive_view.h"
#include "archive/capture_query.h"
#include "catalog/capture.h"
#include "util/result.h"

// What differs between two states of an archive. docs/archive.md, "What changed".
namespace stele::archive {

enum class ChangeState {
  kNew,
  kGone,
  kTextChanged,  // of what has no text: the bytes changed; of a redirect: it leads elsewhere
  kSameText,     // other bytes that say the same; of what has no text: another content coding
  kIdentical,
};
inline constexpr std::size_t kChangeStates = 5;
std::string_view NameOf(ChangeState state);  // "new", "gone", "text", "same-text", "identical"

// Whether the server had something there, and did not answer with an error.
bool IsThere(const catalog::Capture& capture);

// One of the last three states. A revisit counts as what it repeats; where that is not in the
// archive, only its digest is known. A redirect and what is none are never the same, nor are two
// that are known to lead to different places. Errors: kCorrupt, kIo.
Result<ChangeState> CompareCaptures(const ArchiveView& view, const catalog::HeldCapture& before,
                                    const catalog::HeldCapture& after);

// Two captures of a URL.
struct CapturePair {
  catalog::HeldCapture before;
  catalog::HeldCapture after;
  ChangeState state = ChangeState::kIdentical;
};

// Where its text changed last: the captures just before and after that. Where it never did, where
// its bytes changed last; where all are the same, the last capture twice. Errors of the server are
// passed over, and so is what `shows` does not let pass. Errors: kNotFound when nothing was there
// ever; kCorrupt, kIo.
Result<CapturePair> FindLastChange(const ArchiveView& view, const catalog::Selection& url,
                                   CaptureFilter shows = {});

// One URL that was there before, or is there after, or both.
struct Change {
  ChangeState state = ChangeState::kIdentical;
  bool is_page = false;   // before or after
  bool has_text = false;  // by its media type, before or after
  std::string key;
  std::optional<catalog::HeldCapture> before;  // of kNew: nothing, or an error of the server
  std::optional<catalog::HeldCapture> after;   // of kGone: nothing, or an error of the server

  // As it was requested last.
  std::string_view url() const;
};

// Compares the last capture of each URL that one query finds with the last that another finds, in
// the order of keys. Keeps one capture of each in memory. Not thread-safe.
class Changes {
 public:
  // Borrows `view` for life.
  Changes(const ArchiveView& view, const CaptureQuery& before, const CaptureQuery& after);

  // Null after the last. Valid until the next call. Errors: kCorrupt, kIo.
  Result<const Change*> Next();

 private:
  // The last captures of each URL that a query finds.
  class Side {
   public:
    Side(const ArchiveView& view, const CaptureQuery& query) : results_(view, query) {}
    // Goes to the next URL. False: there is none.
    Result<bool> Advance();
    bool at_end() const { return !current_; }
    const std::string& key() const { return key_; }
    const catalog::HeldCapture& capture() const { return *current_; }

   private:
    Status Fetch();

    CaptureResults results_;
    std::string key_;
    std::optional<catalog::HeldCapture> current_;
    std::string next_key_;
    std::optional<catalog::HeldCapture> next_;
    bool begun_ = false;
  };

  // The next URL of either side, whatever its captures are. False: there is none.
  Result<bool> TakeNext();
  // False: it was not there on either side.
  Result<bool> Judge();

  const ArchiveView& view_;
  Side before_;
  Side after_;
  bool begun_ = false;
  Change change_;
};

}  // namespace stele::archive
