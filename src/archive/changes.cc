// Both sides come in the order of keys, so that they are merged as two sorted lists are.
#include "archive/changes.h"

#include "archive/page_text.h"
#include "archive/redirect_target.h"
#include "archive/revisit_resolver.h"
#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::HeldCapture;

// HTTP says so from here on.
constexpr std::uint32_t kErrorStatus = 400;

// A revisit's original, where it is here; else the capture itself.
Result<HeldCapture> OriginalOf(const ArchiveView& view, const HeldCapture& capture) {
  if ((capture.row.flags & catalog::kRevisit) == 0) return capture;
  Result<HeldCapture> original = RevisitResolver(view).Resolve(capture);
  if (!original && original.error().code == ErrorCode::kNotFound) return capture;
  return original;
}

// A "not modified" may repeat anything.
bool SaysOfWhat(const Capture& row) { return !catalog::IsRevisit(row) || !ClaimsNothing(row); }

bool AreIdentical(const Capture& a, const Capture& b) {
  return a.id == b.id || HaveSamePayload(a, b);
}

bool IsRedirect(const Capture& row) { return (row.flags & catalog::kRedirect) != 0; }

// Sort keys, as of all URLs that are compared: that a site is at https now is no other place.
bool LeadElsewhere(const ArchiveView& view, const Capture& before, const Capture& after) {
  if (before.id == after.id) return false;
  const std::string from = RedirectTargetOf(view, before);
  const std::string to = RedirectTargetOf(view, after);
  return !from.empty() && !to.empty() && url::SurtKey(from) != url::SurtKey(to);
}

// What their payloads say.
Result<ChangeState> ComparePayloads(const ArchiveView& view, const HeldCapture& before,
                                    const HeldCapture& after) {
  const bool say = SaysOfWhat(before.row) && SaysOfWhat(after.row);
  if (say && AreIdentical(before.row, after.row)) return ChangeState::kIdentical;
  Result<HeldCapture> old_original = OriginalOf(view, before);
  if (!old_original) return old_original.error();
  Result<HeldCapture> new_original = OriginalOf(view, after);
  if (!new_original) return new_original.error();
  const Capture& a = old_original->row;
  const Capture& b = new_original->row;
  if (AreIdentical(a, b)) return ChangeState::kIdentical;
  return a.text_digest != 0 && a.text_digest == b.text_digest ? ChangeState::kSameText
                                                              : ChangeState::kTextChanged;
}

bool IsPage(const std::optional<HeldCapture>& capture) {
  return capture && (capture->row.flags & catalog::kPage) != 0;
}

bool HasText(const std::optional<HeldCapture>& capture) {
  return capture && HasPageText(AsciiLower(capture->row.type));
}

}  // namespace

std::string_view NameOf(ChangeState state) {
  switch (state) {
    case ChangeState::kNew:
      return "new";
    case ChangeState::kGone:
      return "gone";
    case ChangeState::kTextChanged:
      return "text";
    case ChangeState::kSameText:
      return "same-text";
    case ChangeState::kIdentical:
      return "identical";
  }
  return "";
}

bool IsThere(const Capture& capture) { return capture.status < kErrorStatus; }

Result<ChangeState> CompareCaptures(const ArchiveView& view, const HeldCapture& before,
                                    const HeldCapture& after) {
  if (IsRedirect(before.row) != IsRedirect(after.row)) return ChangeState::kTextChanged;
  Result<ChangeState> state = ComparePayloads(view, before, after);
  // Most redirects have the same payload, none.
  const bool leads = state && *state != ChangeState::kTextChanged && IsRedirect(after.row);
  if (leads && LeadElsewhere(view, before.row, after.row)) return ChangeState::kTextChanged;
  return state;
}

Result<CapturePair> FindLastChange(const ArchiveView& view, const catalog::Selection& url,
                                   CaptureFilter shows) {
  CaptureQuery query;
  query.where.what = url;
  query.shows = std::move(shows);
  CaptureResults results(view, query);
  std::optional<HeldCapture> last;
  std::optional<CapturePair> change;
  for (;;) {
    Result<const HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) break;
    if (!IsThere((*held)->row)) continue;
    if (last) {
      Result<ChangeState> state = CompareCaptures(view, *last, **held);
      if (!state) return state.error();
      const bool says_more = !change || change->state == ChangeState::kSameText;
      if (*state == ChangeState::kTextChanged || (*state == ChangeState::kSameText && says_more)) {
        change = CapturePair{*last, **held, *state};
      }
    }
    last = **held;
  }
  if (!last) return Error{ErrorCode::kNotFound, "there is no capture of it"};
  return change ? *change : CapturePair{*last, *last};
}

std::string_view Change::url() const {
  return state == ChangeState::kGone || !after ? before->row.url : after->row.url;
}

Changes::Changes(const ArchiveView& view, const CaptureQuery& before, const CaptureQuery& after)
    : view_(view), before_(view, before), after_(view, after) {}

Status Changes::Side::Fetch() {
  Result<const HeldCapture*> held = results_.Next();
  if (!held) return held.error();
  next_.reset();
  if (*held == nullptr) return {};
  next_ = **held;
  next_key_ = results_.key();
  return {};
}

Result<bool> Changes::Side::Advance() {
  if (!begun_) {
    begun_ = true;
    if (const Status fetched = Fetch(); !fetched) return fetched.error();
  }
  current_.reset();
  if (!next_) return false;
  key_ = next_key_;
  while (next_ && next_key_ == key_) {
    current_ = std::move(next_);
    if (const Status fetched = Fetch(); !fetched) return fetched.error();
  }
  return true;
}

Result<const Change*> Changes::Next() {
  for (;;) {
    Result<bool> taken = TakeNext();
    if (!taken) return taken.error();
    if (!*taken) return nullptr;
    Result<bool> judged = Judge();
    if (!judged) return judged.error();
    if (*judged) return &change_;
  }
}

Result<bool> Changes::TakeNext() {
  if (!begun_) {
    begun_ = true;
    for (Side* side : {&before_, &after_}) {
      Result<bool> advanced = side->Advance();
      if (!advanced) return advanced.error();
    }
  }
  if (before_.at_end() && after_.at_end()) return false;
  const bool takes_before = !before_.at_end() && (after_.at_end() || before_.key() <= after_.key());
  const bool takes_after = !after_.at_end() && (before_.at_end() || after_.key() <= before_.key());
  change_ = Change();
  change_.key = takes_before ? before_.key() : after_.key();
  if (takes_before) {
    change_.before = before_.capture();
    Result<bool> advanced = before_.Advance();
    if (!advanced) return advanced.error();
  }
  if (takes_after) {
    change_.after = after_.capture();
    Result<bool> advanced = after_.Advance();
    if (!advanced) return advanced.error();
  }
  return true;
}

Result<bool> Changes::Judge() {
  const bool was_there = change_.before && IsThere(change_.before->row);
  const bool is_there = change_.after && IsThere(change_.after->row);
  if (!was_there && !is_there) return false;
  change_.is_page = IsPage(change_.before) || IsPage(change_.after);
  change_.has_text = HasText(change_.before) || HasText(change_.after);
  if (was_there && is_there) {
    Result<ChangeState> state = CompareCaptures(view_, *change_.before, *change_.after);
    if (!state) return state.error();
    change_.state = *state;
  } else {
    change_.state = is_there ? ChangeState::kNew : ChangeState::kGone;
  }
  return true;
}

}  // namespace stele::archive
