#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <unordered_set>

#include "store/signature.h"

namespace stele::store {

// Who works on which blocks: each signature is with one caller at a time. Thread-safe.
class AccessList {
 public:
  // Has a signature until destroyed.
  class Access {
   public:
    Access(AccessList& list, const Signature& signature);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    AccessList& list_;
    const std::string bytes_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::unordered_set<std::string> taken_;
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
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool closed_ = false;
};

}  // namespace stele::store
