#pragma once

#include <optional>
#include <string>
#include <utility>

#include "util/check.h"

namespace stele {

// Chosen by what the caller does next, not by where the error came from.
enum class ErrorCode {
  kNotFound,  // it is not there: try elsewhere or say so
  kCorrupt,   // bytes that should be good are not: set aside, recover, repair
  kIo,        // the machine refused: stop, nothing is known about the write
  kInvalid,   // the request is wrong: the person must change it
  kBusy,      // somebody else has it: try again later
  kFull,      // a limit was reached: make room or raise the limit
  kOutdated,  // the two sides know different states of things: learn the newer one, ask again
};

// The text says what, where, and what to do; it is shown to people as it is.
struct Error {
  ErrorCode code;
  std::string text;
};

// A value or an Error. Never both, never neither.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}             // NOLINT: implicit on purpose

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& value() {
    Check(ok());
    return *value_;
  }
  const T& value() const {
    Check(ok());
    return *value_;
  }

  // Requires: !ok().
  const Error& error() const {
    Check(!ok());
    return error_;
  }

 private:
  // A std::variant of the two would make every source an eighth slower to compile.
  std::optional<T> value_;
  Error error_{};  // what it says counts where there is no value
};

// The outcome of something that returns nothing.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    Check(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace stele
