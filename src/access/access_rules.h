#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/viewer.h"
#include "net/ip_range.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::access {

// What may be shown, as pywb's .aclj files say it: docs/access.md, "Access rules". Immutable.
class AccessRules {
 public:
  enum class Access {
    kAllow,
    kBlock,    // it is said that it may not be shown: 451
    kExclude,  // it is not there: 404
  };

  struct Verdict {
    Access access = Access::kAllow;
    bool downloads = true;  // false: it may be looked at, but not taken away
  };

  // Errors: kInvalid, naming the line.
  static Result<AccessRules> Parse(std::string_view text, const std::string& name);

  // `now` is when it is asked, for rules about the age of captures.
  Verdict Judge(std::string_view key, Timestamp captured, Timestamp now,
                const Viewer& viewer) const;

  bool empty() const { return by_length_.empty(); }
  // Whether what may be shown changes while time goes by.
  bool has_ages() const { return has_ages_; }
  // The same for all viewers to whom the same rules apply; another one when the rules are others.
  std::string ClassOf(const Viewer& viewer) const;

 private:
  // A span of time back from now.
  struct Age {
    int months = 0;
    std::int64_t milliseconds = 0;

    Timestamp Before(Timestamp now) const;
  };
  struct Rule {
    Access access = Access::kAllow;
    bool downloads = true;
    std::string user;                // empty: everybody
    std::vector<net::IpRange> from;  // none: everywhere
    bool exact = false;
    std::optional<Timestamp> before;  // captured before; after
    std::optional<Timestamp> after;
    std::optional<Age> newer;  // captured less, more than that ago
    std::optional<Age> older;
  };
  using ByKey = std::map<std::string, std::vector<Rule>, std::less<>>;

  static Result<Rule> ParseRule(std::string_view json);
  static Result<Age> ParseAge(std::string_view json);
  static Result<std::vector<net::IpRange>> ParseRanges(std::string_view json);
  static bool IsFor(const Rule& rule, const Viewer& viewer);
  static bool Applies(const Rule& rule, Timestamp captured, Timestamp now);

  // The longest first: the most special rule decides.
  std::map<std::size_t, ByKey, std::greater<>> by_length_;
  bool has_ages_ = false;
  std::uint64_t checksum_ = 0;  // of the text
};

}  // namespace stele::access
