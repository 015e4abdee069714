#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/codec.h"
#include "util/base_encoding.h"

// Bytes for the tests of this folder, the same on every run.
namespace stele::codec {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t Roll(std::uint32_t sides) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33) % sides;
  }

 private:
  std::uint64_t state_;
};

inline std::string Noise(std::size_t size, std::uint64_t seed = 1) {
  Dice dice(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(dice.Roll(256));
  return bytes;
}

inline std::string Markup(std::size_t size, std::uint64_t seed = 1) {
  static constexpr std::string_view kWords[] = {
      "<p>", "</p>\n", "<a href=\"/", "\">", "archive", " the ", "<li>item", "&amp;", "x", "1996 "};
  Dice dice(seed);
  std::string text;
  while (text.size() < size) {
    text +=
        dice.Roll(5) == 0 ? std::to_string(dice.Roll(100000)) : std::string(kWords[dice.Roll(10)]);
  }
  text.resize(size);
  return text;
}

// What `BrotliSample()` unpacks to.
inline std::string BrotliSampleText() {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "<p>line " + std::to_string(i) + ": the quick brown fox jumps over the lazy dog, " +
            std::to_string(i * i) + "</p>\n";
  }
  return text;
}

inline std::string BrotliSample() {
  return *HexDecode(
      "c1b850002066cce96b54ceb7db3ee191f2000cffdae97c072f59e110369e4ae1c387262b9ce26428b379ed58f3"
      "305f2395cbd7cff1757adc9d573418fe77f1dafe1bcdef97cf99d6972fed5fa7eb832eefd57dcaeb71f6ffd1f2"
      "b2696930ee5fa7cd0a2446903c2a296391fa840b694736d28d684086d1f39369dcf86499f47c29c2aec3a069c5"
      "b1162807aaa8045eda106ccaa11d9994423ab68a864b3b4843b113f6847474e21c24ed334539504539d0443930"
      "4639b04079e6285bd7420a1b7690c28627a470190ba58259a1e2ea3e940ace877bb20a2b192bd40a333a10d356"
      "b19a72232a1d989eb74a14271962a9a4d324b554eab63c09");
}

struct Streamed {
  std::string out;
  std::size_t consumed = 0;
  bool done = false;
  bool corrupt = false;
  bool stuck = false;  // broke the promise that a call makes progress
};

// One stream, fed `in_step` bytes at a time into rooms of `out_step` bytes, as a caller would.
inline Streamed DecodeInSteps(Decoder& decoder, std::string_view in, std::size_t in_step,
                              std::size_t out_step, std::size_t size_max = SIZE_MAX) {
  Streamed result;
  std::string room(out_step, '\0');
  for (;;) {
    const std::string_view piece = in.substr(result.consumed, in_step);
    const Result<Progress> step = decoder.Decode(piece, room);
    if (!step) {
      result.corrupt = step.error().code == ErrorCode::kCorrupt;
      return result;
    }
    result.consumed += step->consumed;
    result.out.append(room.data(), step->produced);
    result.done = step->done;
    if (step->done || result.out.size() > size_max) return result;
    if (step->consumed == 0 && step->produced == 0) {
      result.stuck = !piece.empty();
      return result;
    }
  }
}

inline std::string EncodeInSteps(Encoder& encoder, std::string_view in, std::size_t in_step,
                                 std::size_t out_step) {
  std::string out;
  std::string room(out_step, '\0');
  for (;;) {
    const std::string_view piece = in.substr(0, in_step);
    const Result<Progress> step = encoder.Encode(piece, room, piece.size() == in.size());
    if (!step) return "failed: " + step.error().text;
    in.remove_prefix(step->consumed);
    out.append(room.data(), step->produced);
    if (step->done) return out;
  }
}

}  // namespace stele::codec
