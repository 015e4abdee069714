// Keys of one path lie side by side in the index, with their arguments in alphabetical order. So
// two stretches of it are looked at, outward from where the key itself would be: what begins as the
// key does up to its first argument that means nothing, and where that has none, the path's own.
// Numbers that scripts put into addresses are mostly times: the nearest ones in the index are the
// nearest in time, too.
#include "access/similar_url.h"

#include <algorithm>
#include <cstdlib>

#include "util/ascii.h"

namespace stele::access {
namespace {

// What a value must look like for its argument to mean nothing.
enum class Shape {
  kAny,
  kClock,     // a time or a random number: nine digits or more, perhaps with a point
  kCallback,  // the name of a function that a script made up: with a number in it
};

struct LooseArgument {
  std::string_view name;  // '*' at its begin or end: anything
  Shape shape;
};

// Names are in lower case, as in keys. An argument without '=' is a value without a name.
constexpr LooseArgument kLooseArguments[] = {
    {"_", Shape::kAny},
    {"", Shape::kClock},
    {"bust", Shape::kAny},
    {"*cachebust*", Shape::kAny},
    {"cache_bust", Shape::kAny},
    {"cache-bust", Shape::kAny},
    {"nocache", Shape::kAny},
    {"no_cache", Shape::kAny},
    {"uncache", Shape::kAny},
    {"rnd", Shape::kAny},
    {"rand", Shape::kAny},
    {"random", Shape::kAny},
    {"ord", Shape::kClock},
    {"cb", Shape::kAny},
    {"t", Shape::kClock},
    {"ts", Shape::kClock},
    {"*_ts", Shape::kClock},
    {"r", Shape::kClock},
    {"v", Shape::kClock},
    {"dt", Shape::kClock},
    {"now", Shape::kClock},
    {"time", Shape::kClock},
    {"timestamp", Shape::kClock},
    {"callback", Shape::kCallback},
    {"*callback", Shape::kCallback},
    {"jsonp", Shape::kCallback},
    {"utm_*", Shape::kAny},
    {"_ga", Shape::kAny},
    {"_gl", Shape::kAny},
    {"fbclid", Shape::kAny},
    {"gclid", Shape::kAny},
    {"dclid", Shape::kAny},
    {"msclkid", Shape::kAny},
    {"yclid", Shape::kAny},
    {"igshid", Shape::kAny},
    {"mc_cid", Shape::kAny},
    {"mc_eid", Shape::kAny},
};

// Files that a server sends whatever stands behind their '?': a version.
constexpr std::string_view kStaticFiles[] = {
    "avif", "bmp", "css", "eot", "gif", "ico", "jpeg", "jpg",  "js",   "mjs",  "mp3",  "mp4",
    "ogg",  "otf", "pdf", "png", "svg", "swf", "ttf",  "wasm", "webm", "webp", "woff", "woff2",
};

// Requests that are no GET: their answers are never those of others.
constexpr std::string_view kMethod = "__wb_method=";

constexpr std::size_t kClockDigits = 9;
constexpr char kBehind = '\x01';  // at the end of a key: behind all its entries, before other keys

bool HasShape(std::string_view value, Shape shape) {
  const auto digits =
      static_cast<std::size_t>(std::count_if(value.begin(), value.end(), IsAsciiDigit));
  switch (shape) {
    case Shape::kAny:
      return true;
    case Shape::kClock:
      return digits >= kClockDigits && value.find_first_not_of("0123456789.") == value.npos;
    case Shape::kCallback:
      return digits > 0 && digits < value.size();
  }
  return false;
}

bool IsNamed(std::string_view name, std::string_view pattern) {
  const bool any_begin = pattern.starts_with('*');
  if (any_begin) pattern.remove_prefix(1);
  const bool any_end = pattern.ends_with('*');
  if (any_end) pattern.remove_suffix(1);
  if (any_begin && any_end) return name.find(pattern) != name.npos;
  if (any_begin) return name.ends_with(pattern);
  return any_end ? name.starts_with(pattern) : name == pattern;
}

bool IsLoose(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  const std::string_view name = equals == argument.npos ? "" : argument.substr(0, equals);
  const std::string_view value = equals == argument.npos ? argument : argument.substr(equals + 1);
  return std::any_of(std::begin(kLooseArguments), std::end(kLooseArguments),
                     [&](const LooseArgument& loose) {
                       return IsNamed(name, loose.name) && HasShape(value, loose.shape);
                     });
}

bool IsStaticFile(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == path.npos || path.find('/', dot) != path.npos) return false;
  return std::find(std::begin(kStaticFiles), std::end(kStaticFiles), path.substr(dot + 1)) !=
         std::end(kStaticFiles);
}

std::vector<std::string_view> ArgumentsOf(std::string_view key) {
  const std::size_t mark = key.find('?');
  if (mark == key.npos) return {};
  return Split(key.substr(mark + 1), '&');
}

// How good an answer a capture is; the smallest is the best.
struct Rank {
  bool is_error = false;
  std::int64_t in_common = 0;  // arguments, negative
  std::uint64_t distance = 0;
  auto operator<=>(const Rank&) const = default;
};

class Seeker {
 public:
  Seeker(const Sight& sight, std::string_view key, Timestamp at)
      : sight_(sight),
        key_(key),
        at_(at),
        loose_(LooseKey::Of(key)),
        arguments_(ArgumentsOf(key)) {}

  Result<std::optional<std::string>> Seek() {
    const std::string path = loose_.path + '?';
    for (const std::string& begin : {loose_.prefix, path}) {
      if (const Status looked = LookAround(begin); !looked) return looked.error();
      if (!best_.empty()) return std::optional(best_);
    }
    if (const Status judged = JudgeKey(loose_.path); !judged) return judged.error();
    return best_.empty() ? std::optional<std::string>() : std::optional(best_);
  }

 private:
  // The keys that begin so, kSimilarKeysMax on each side of ours.
  Status LookAround(const std::string& begin) {
    if (begin.size() > catalog::kLocationKeyKept) return {};  // too long for the index
    const auto cursor = sight_.view().catalog().NewLocationCursor();
    const auto at = [&](const catalog::LocationCursor::Move& move) -> std::string {
      const bool fits = move && *move != nullptr && (*move)->key.starts_with(begin);
      return fits ? std::string((*move)->key) : "";
    };
    const std::string ours = std::max(begin, catalog::LocationKey(key_));
    catalog::LocationCursor::Move move = cursor->Seek(catalog::FirstOf(ours));
    std::string key = at(move);
    for (int i = 0; i < kSimilarKeysMax && !key.empty(); ++i, key = at(move)) {
      if (const Status judged = JudgeKey(key); !judged) return judged;
      key += kBehind;
      move = cursor->Seek(catalog::FirstOf(key));
    }
    if (!move) return move.error();
    move = cursor->SeekBack(catalog::FirstOf(ours));
    key = at(move);
    for (int i = 0; i < kSimilarKeysMax && !key.empty(); ++i, key = at(move)) {
      if (const Status judged = JudgeKey(key); !judged) return judged;
      move = cursor->SeekBack(catalog::FirstOf(key));
    }
    return move ? Status() : Status(move.error());
  }

  // The nearest capture of a key, where that is similar.
  Status JudgeKey(const std::string& key) {
    if (key == key_ || !(LooseKey::Of(key) == loose_)) return {};
    catalog::LocationQuery query;
    query.what = catalog::SelectKey(key);
    query.pick = catalog::LocationQuery::Pick::kNearest;
    query.from = at_;
    catalog::LocationResults results = sight_.view().catalog().Find(std::move(query));
    const Result<const catalog::LocationEntry*> entry = results.Next();
    if (!entry) return entry.error();
    return *entry == nullptr ? Status() : Judge(**entry);
  }

  Status Judge(const catalog::LocationEntry& entry) {
    const Result<catalog::HeldCapture> held = sight_.view().catalog().Get(entry.id);
    if (!held) return held.error();
    // A long key of which only the begin is kept would not be found under it.
    if (KeyOfCapture(held->row) != entry.key || !sight_.Shows(entry.key, held->row)) return {};
    Rank rank;
    rank.is_error = held->row.status >= 400;
    for (const std::string_view argument : ArgumentsOf(entry.key)) {
      const bool common =
          std::find(arguments_.begin(), arguments_.end(), argument) != arguments_.end();
      rank.in_common -= common ? 1 : 0;
    }
    const auto time = static_cast<std::uint64_t>(entry.time.milliseconds);
    const auto at = static_cast<std::uint64_t>(at_.milliseconds);
    rank.distance = entry.time > at_ ? time - at : at - time;
    if (best_.empty() || rank < rank_) {
      best_ = entry.key;
      rank_ = rank;
    }
    return {};
  }

  const Sight& sight_;
  const std::string_view key_;
  const Timestamp at_;
  const LooseKey loose_;
  const std::vector<std::string_view> arguments_;
  std::string best_;
  Rank rank_;
};

}  // namespace

LooseKey LooseKey::Of(std::string_view key) {
  LooseKey loose;
  loose.path = key.substr(0, key.find('?'));
  const bool is_static = IsStaticFile(loose.path);
  std::string before = loose.path + '?';
  for (const std::string_view argument : ArgumentsOf(key)) {
    const bool fixed = argument.starts_with(kMethod) || (!is_static && !IsLoose(argument));
    if (fixed) loose.fixed.emplace_back(argument);
    if (!loose.prefix.empty()) continue;
    if (fixed) {
      before += std::string(argument) + '&';
    } else {
      const std::size_t equals = argument.find('=');
      loose.prefix = before;
      if (equals != argument.npos) loose.prefix += argument.substr(0, equals + 1);
    }
  }
  if (loose.prefix.empty()) loose.prefix = std::move(before);
  return loose;
}

Result<std::optional<std::string>> FindSimilarKey(const Sight& sight, std::string_view key,
                                                  Timestamp at) {
  return Seeker(sight, key, at).Seek();
}

Result<Nearest> FindNearestOrSimilar(const Sight& sight, std::string_view url, Timestamp at) {
  Result<Nearest> nearest = FindNearest(sight, url, at);
  if (!nearest || nearest->capture || nearest->blocked) return nearest;
  const Result<std::optional<std::string>> similar = FindSimilarKey(sight, KeyOfUrl(url), at);
  if (!similar) return similar.error();
  if (!*similar) return nearest;
  NearestCaptures captures(sight, **similar, at, NearestCaptures::Direction::kBoth);
  const Result<const catalog::HeldCapture*> found = captures.Next();
  if (!found) return found.error();
  if (*found != nullptr) nearest->capture = **found;
  return nearest;
}

}  // namespace stele::access
