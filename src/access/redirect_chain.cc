#include "access/redirect_chain.h"

#include <optional>

#include "formats/url/url.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

constexpr int kHopsMax = 8;
constexpr int kCandidatesMax = 16;
constexpr std::int64_t kSecond = 1000;

bool IsRedirect(const catalog::Capture& row) { return row.status >= 300 && row.status < 400; }

// What is found where a hop leads to.
struct Landing {
  std::optional<Hop> next;   // nothing: the chain ends there
  bool has_answers = false;  // of other kinds than redirects
};

Landing Land(const Sight& sight, const Hop& hop) {
  const std::string key = KeyOfUrl(hop.location);
  const Timestamp second{hop.time.milliseconds - hop.time.milliseconds % kSecond};
  NearestCaptures nearest(sight, key, second, NearestCaptures::Direction::kBoth, kSecond - 1);
  Landing landing;
  for (int i = 0; i < kCandidatesMax; ++i) {
    const Result<const HeldCapture*> found = nearest.Next();
    if (!found || *found == nullptr) break;
    const HeldCapture& held = **found;
    if (!IsRedirect(held.row)) {
      landing.has_answers = true;
      break;
    }
    if (landing.next) continue;
    const auto content = CaptureContent::Open(sight, held, [](std::string_view) { return false; });
    const std::string location = content ? LocationOf(held, (*content)->head()) : "";
    // Those of a URL to itself are passed over.
    if (!location.empty() && KeyOfUrl(location) != key) landing.next = Hop{location, held.row.time};
  }
  return landing;
}

}  // namespace

std::string LocationOf(const HeldCapture& capture, const ArchivedHead& head) {
  if (head.status < 300 || head.status >= 400) return "";
  const std::string_view location = head.Find("Location");
  if (location.empty()) return "";
  const Result<url::Url> base = url::Parse(capture.row.url);
  const Result<url::Url> target = url::Parse(location, base ? &*base : nullptr);
  return target ? target->href() : "";
}

Way FollowRedirect(const Sight& sight, std::string_view key, Hop hop) {
  bool has_answers = false;
  for (int hops = 0; hops < kHopsMax; ++hops) {
    if (KeyOfUrl(hop.location) == key) return has_answers ? Way::kCircle : Way::kNowhere;
    Landing landing = Land(sight, hop);
    if (!landing.next) return Way::kOn;
    has_answers |= landing.has_answers;
    hop = *std::move(landing.next);
  }
  return Way::kOn;
}

}  // namespace stele::access
