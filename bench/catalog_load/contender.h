#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog_load/captures.h"
#include "util/timestamp.h"

namespace stele::bench {

// What an answer consists of: that a key was captured then. `key` is valid during the call only.
using Take = std::function<void(std::string_view key, Timestamp time)>;

// Caches of contenders have this many bytes, so that the data is larger.
inline constexpr std::size_t kCacheBytes = 64 << 20;

// A store of captures. One is filled and closed; another one, in a process of its own, is opened on
// the same directory and asked. Whatever fails ends the program.
class Contender {
 public:
  virtual ~Contender() = default;

  // Adds rows, which are durable when it returns.
  virtual void Add(std::span<const Row> rows) = 0;
  // Brings it into the state in which it rests.
  virtual void Finish() = 0;
  // Named sizes beside that of the directory.
  virtual std::vector<std::pair<std::string, std::uint64_t>> Sizes() { return {}; }

  // Of the captures of a key, that which is nearest to a moment; of two the earlier.
  virtual void Nearest(std::string_view key, Timestamp time, const Take& take) = 0;
  // The same, with all that an index line has; the length of that.
  virtual std::size_t NearestLine(std::string_view key, Timestamp time) = 0;
  // The captures of a key from one moment to another.
  virtual void Span(std::string_view key, Timestamp from, Timestamp to, const Take& take) = 0;
  // All captures of keys that begin so.
  virtual void Prefix(std::string_view prefix, const Take& take) = 0;
  // All captures from one moment to another.
  virtual void AcquiredIn(Timestamp from, Timestamp to, const Take& take) = 0;
  // Of all keys that begin so, what was the newest capture at some moment from `from` to `to`.
  virtual void Alive(std::string_view prefix, Timestamp from, Timestamp to, const Take& take) = 0;
};

// Goes through captures in the order of keys and times, and gives those that were alive.
class AliveFilter {
 public:
  AliveFilter(Timestamp from, Timestamp to, const Take& take) : from_(from), to_(to), take_(take) {}

  void Add(std::string_view key, Timestamp time) {
    if (key != key_) {
      Flush();
      key_ = key;
    }
    if (time > to_) return;
    if (has_ && time > from_) take_(key_, last_);
    last_ = time;
    has_ = true;
  }
  // Behind the last one.
  void Flush() {
    if (has_) take_(key_, last_);
    has_ = false;
  }

 private:
  const Timestamp from_;
  const Timestamp to_;
  const Take& take_;
  std::string key_;
  Timestamp last_;
  bool has_ = false;
};

// Null where it was not built in.
using Make = std::unique_ptr<Contender> (*)(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeNothing(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeStele(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeSteleBothDigests(const std::string& directory, bool fill);
// Answers what was alive from its sorted runs.
std::unique_ptr<Contender> MakeSteleScan(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeRocksKeys(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeRocksLines(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeBerkeley(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeSqlite(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeCdx(const std::string& directory, bool fill);
std::unique_ptr<Contender> MakeZipNum(const std::string& directory, bool fill);

// Ends the program when it does not hold.
void Require(bool good, std::string_view what);

// A key of a sorted store: the SURT key, a zero byte, the time as bytes that sort.
std::string SortedKey(std::string_view key, Timestamp time);
// The parts of one. The key points into it.
std::string_view KeyPart(std::string_view sorted);
Timestamp TimePart(std::string_view sorted);

}  // namespace stele::bench
