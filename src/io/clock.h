#pragma once

#include "util/timestamp.h"

namespace stele::io {

// Passed in wherever the time matters, so that tests can stop it. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Timestamp Now() const override;
};

// Stands still until it is set.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp now) : now_(now) {}
  Timestamp Now() const override { return now_; }
  void Set(Timestamp now) { now_ = now; }

 private:
  Timestamp now_;
};

}  // namespace stele::io
