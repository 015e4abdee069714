#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <unordered_set>

#include "store/signature.h"

namespace stele::store {

// Who works on which blocks: each signature is with one caller at a time. Thread-safe.
class AccessList {
  // Signatures share few of these, so that callers seldom meet who want different ones.
  struct Part {
    std::mutex mutex;
    std::condition_variable released;
    std::unordered_set<std::string> taken;
  };

 public:
  // Has a signature until destroyed.
  class Access {
   public:
    Access(AccessList& list, const Signature& signature);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    const std::string bytes_;
    Part& part_;
  };

 private:
  std::array<Part, 64> parts_;
};

// Lets many through, or one alone. Whoever wants to be alone is not kept waiting by newcomers.
// Thread-safe; nobody may pass it twice at once.
class Gate {
 public:
  class Pass {
   public:
    explicit Pass(Gate& gate);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    Gate& gate_;
  };

  class Alone {
   public:
    explicit Alone(Gate& gate);
    ~Alone();
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

   private:
    Gate& gate_;
  };

 private:
  void Leave();

  // Whoever comes counts itself first and looks then; whoever closes does it the other way round:
  // one of them sees the other. So an open gate is passed without the mutex.
  std::atomic<int> inside_ = 0;
  std::atomic<bool> closed_ = false;  // changed under mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace stele::store
