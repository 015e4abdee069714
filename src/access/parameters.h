#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"

namespace stele::access {

// The arguments behind the '?' of a request, decoded, in their order. Every input is accepted;
// beyond kParametersMax arguments, the rest is dropped.
class Parameters {
 public:
  static constexpr std::size_t kParametersMax = 1000;

  static Parameters Parse(std::string_view query);

  // The first of that name.
  std::optional<std::string_view> Get(std::string_view name) const;
  std::vector<std::string_view> GetAll(std::string_view name) const;
  // Said, and neither "0" nor "false".
  bool IsOn(std::string_view name) const;
  // A number up to `max`; `fallback` where there is none. Errors: kInvalid.
  Result<std::uint64_t> Number(std::string_view name, std::uint64_t fallback,
                               std::uint64_t max) const;

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

// For the value of an argument: all but letters, digits and "-._~" as %XX.
std::string EncodeArgument(std::string_view text);

}  // namespace stele::access
