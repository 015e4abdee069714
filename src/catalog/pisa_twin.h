#pragma once

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "catalog/pisa_cursor.h"
#include "io/random.h"

// For tests: what a persistent tree has to answer, said as plainly as possible.
namespace stele::catalog {

inline void PrintTo(const PisaCapture& one, std::ostream* out) {
  *out << one.key << " " << one.birth.milliseconds << "-" << one.death.milliseconds << " #"
       << one.capture.serial;
}

class PisaTwin {
 public:
  // In any order of time. Of two captures with the same key and time the later call counts.
  void Insert(std::string_view key, Timestamp time, CaptureId capture) {
    captures_[{std::string(key), time}] = capture;
  }

  // Every capture that was alive at some moment from `first` to `last`, by key and birth.
  std::vector<PisaCapture> AliveDuring(Timestamp first, Timestamp last) const {
    std::vector<PisaCapture> found;
    for (auto at = captures_.begin(); at != captures_.end(); ++at) {
      const auto& [key, birth] = at->first;
      const auto next = std::next(at);
      const bool replaced = next != captures_.end() && next->first.first == key;
      const Timestamp death = replaced ? next->first.second : kEndOfTime;
      if (birth > last || death <= first) continue;
      found.push_back({key, birth, death <= last ? death : kEndOfTime, at->second});
    }
    return found;
  }

  std::vector<PisaCapture> Answer(const PisaSelection& selection) const {
    std::vector<PisaCapture> found;
    for (const PisaCapture& one : AliveDuring(selection.first, selection.last)) {
      if (one.key < selection.key_first) continue;
      if (selection.key_end && one.key >= *selection.key_end) continue;
      if (selection.after && std::pair(one.key, one.birth) <=
                                 std::pair(selection.after->key, selection.after->birth)) {
        continue;
      }
      if (found.size() < selection.limit) found.push_back(one);
    }
    return found;
  }

 private:
  std::map<std::pair<std::string, Timestamp>, CaptureId> captures_;
};

// Captures in the order of time: many of some keys, few of most; several at one moment.
struct PisaScenario {
  std::size_t captures = 600;
  std::size_t keys = 60;
  std::size_t hot_percent = 30;    // of captures that are of the first two keys
  std::size_t still_percent = 20;  // of captures at the moment of the one before
  std::size_t key_bytes_max = 12;
};

inline std::string ScenarioKey(std::size_t number, std::size_t bytes_max) {
  std::string key = std::to_string(number * 7919 % 1000);
  key.insert(0, number % 3, 'a');
  key.append(number % (bytes_max - 5), 'x');
  return key.substr(0, bytes_max);
}

inline std::vector<PisaCapture> MakeScenario(const PisaScenario& scenario, io::Random& dice) {
  std::vector<PisaCapture> captures;
  Timestamp time{1000};
  for (std::uint32_t i = 0; i < scenario.captures; ++i) {
    if (dice.Next() % 100 >= scenario.still_percent) {
      time.milliseconds += static_cast<std::int64_t>(1 + dice.Next() % 5);
    }
    const bool hot = dice.Next() % 100 < scenario.hot_percent;
    const std::size_t key =
        dice.Next() % (hot ? std::min<std::size_t>(2, scenario.keys) : scenario.keys);
    captures.push_back({ScenarioKey(key, scenario.key_bytes_max), time, kEndOfTime, {200405, i}});
  }
  return captures;
}

// A question about some time and some keys of these captures.
inline PisaSelection AnySelection(const std::vector<PisaCapture>& captures, io::Random& dice) {
  const auto any = [&]() -> const PisaCapture& { return captures[dice.Next() % captures.size()]; };
  const auto time = [&] {
    return Timestamp{any().birth.milliseconds + static_cast<std::int64_t>(dice.Next() % 3) - 1};
  };
  PisaSelection selection{time(), time()};
  if (dice.Next() % 3 == 0) selection.last = selection.first;
  if (selection.last < selection.first) std::swap(selection.first, selection.last);
  if (dice.Next() % 3 == 0) selection.key_first = any().key;
  if (dice.Next() % 3 == 0) selection.key_end = any().key;
  if (dice.Next() % 4 == 0) {
    selection.key_first = any().key.substr(0, 1 + dice.Next() % 2);
    selection.key_end = EndOfPrefix(selection.key_first);
  }
  if (dice.Next() % 4 == 0) selection.after = PisaPosition{any().key, any().birth};
  if (dice.Next() % 4 == 0) selection.limit = dice.Next() % 20;
  return selection;
}

}  // namespace stele::catalog
