#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codec/registry.h"
#include "formats/http/defects.h"
#include "formats/http/message.h"

namespace stele::http {

class ContentStage;

// Against small bodies that decode to huge ones. They hold for every coding of a chain.
struct ContentLimits {
  std::uint64_t size_max = std::uint64_t{1} << 32;    // bytes out
  std::uint64_t ratio_max = 500;                      // bytes out per byte in ...
  std::uint64_t ratio_from = std::uint64_t{8} << 20;  // ... once so many bytes came out
};

// Takes the content codings off a payload, as a stream. Never fails: what is wrong is told by
// defects(), and bytes that are not encoded as the header says are passed as they are.
// Several members or frames after each other are read as one; other bytes after the end are left
// out.
class ContentDecoder {
 public:
  static constexpr std::size_t kCodingsMax = 5;

  // `codings` in the order of the header, that is, the one applied last is last. `registry` must
  // outlive the constructor only.
  ContentDecoder(const codec::Registry& registry, const std::vector<std::string_view>& codings,
                 const ContentLimits& limits = {});
  ~ContentDecoder();

  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    bool done = false;  // nothing will follow; input that is left does not matter
  };

  // Decodes from `in` into `out`. `last`: no bytes come after `in`; call again with the rest, and
  // `last`, until `done`. Requires: !out.empty().
  Step Decode(std::string_view in, std::span<char> out, bool last);

  // There is nothing to decode: the caller may use the payload itself.
  bool passes_through() const { return stages_.empty(); }

  // Complete once `done`.
  Defects defects() const;

 private:
  Step Pull(std::size_t stage, std::string_view in, std::span<char> out, bool last);

  Defects defects_;
  std::vector<std::unique_ptr<ContentStage>> stages_;  // the first reads the payload
};

// The codings of a message, for the constructor.
inline std::vector<std::string_view> ContentCodings(const Headers& headers) {
  return headers.List("Content-Encoding");
}

}  // namespace stele::http
