#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "crawl/frontier.h"
#include "formats/robots/robots.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::crawl {

inline constexpr std::string_view kRobotsPath = "/robots.txt";

// What robots.txt files said, for a day, also across interruptions. Not thread-safe. Borrows the
// frontier, which keeps them, for life.
class RobotsCache {
 public:
  // `product_token` is the name that files know us by.
  RobotsCache(Frontier& frontier, std::string product_token)
      : frontier_(frontier), product_token_(std::move(product_token)) {}

  // The rules of "https://example.org". Null: they have to be asked for. Valid until the next call
  // of Set() or Find(). Errors: those of the frontier.
  Result<const robots::Robots*> Find(const std::string& origin, Timestamp now);
  // They cannot be had now: those that have expired, where there are any, hold on for an hour (RFC
  // 9309, 2.4). False: there are none. Errors: those of the frontier.
  Result<bool> Prolong(const std::string& origin, Timestamp now);
  // Why nothing may be fetched there although nobody said so; empty: there are rules. Of what
  // Find() found last.
  std::string WhyUnknown(const std::string& origin) const;
  // kFollow, after too many redirects, allows everything. `text` has the rules of kParse, and says
  // to people why there is kDisallowAll. Returns what Keep() wants.
  std::string Set(const std::string& origin, robots::Access access, std::string_view text,
                  Timestamp now);
  // Once the file is stored and logged: earlier, an interruption would leave rules of a file that
  // nobody has seen.
  void Keep(const std::string& origin, std::string note);

 private:
  struct Entry {
    Timestamp fetched;
    robots::Access access;
    robots::Robots rules;
    std::string why_unknown;
  };

  // Expired or not; null: there are none.
  Result<Entry*> Load(const std::string& origin);
  Entry EntryOf(Timestamp fetched, robots::Access access, std::string_view text) const;

  Frontier& frontier_;
  const std::string product_token_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace stele::crawl
