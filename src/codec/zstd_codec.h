#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.h"

namespace stele::codec {

struct ZstdDictionary;  // the bytes and their prepared form

// RFC 8878, as `.warc.zst` wants it: each frame says its content size (when Encoder::ExpectSize was
// called, or all bytes come with the first Encode), its dictionary, and ends in a checksum. Levels
// 1 to 19, whose windows of at most 8 MiB every decoder must accept. One Encoder, Reset() after
// each frame, keeps the prepared dictionary; Compress() prepares it anew.
//
// A stream is one frame. Skippable frames are streams that give no bytes.
class ZstdCodec final : public Codec {
 public:
  static constexpr int kWindowLogLeast = 23;  // 8 MiB
  static constexpr int kWindowLogMost = 27;   // 128 MiB

  // Without a dictionary. Frames with windows beyond 2^window_log_max bytes are refused as corrupt.
  explicit ZstdCodec(int window_log_max = kWindowLogMost);

  // With a dictionary, trained (magic 37 A4 30 EC) or raw bytes.
  // Errors: kCorrupt when it has the magic of a trained one and is none, kInvalid when it is empty.
  static Result<std::unique_ptr<ZstdCodec>> WithDictionary(std::string dictionary,
                                                           int window_log_max = kWindowLogMost);

  // 0: no dictionary, or one of raw bytes.
  std::uint32_t dictionary_id() const;

  std::string_view name() const override { return "zstd"; }
  std::unique_ptr<Decoder> NewDecoder() const override;
  std::unique_ptr<Encoder> NewEncoder(int level) const override;
  Result<std::string> Compress(std::string_view bytes, int level) const override;
  Result<std::string> Decompress(std::string_view bytes, std::size_t size_max) const override;

 private:
  std::shared_ptr<const ZstdDictionary> dictionary_;  // null: none
  int window_log_max_;
};

// A dictionary of at most `size_max` bytes from what is typical of the samples; about 100 times its
// size of samples is a good amount.
// Errors: kInvalid when the samples are too few, too small or too alike to learn from.
Result<std::string> TrainDictionary(const std::vector<std::string_view>& samples,
                                    std::size_t size_max);

}  // namespace stele::codec
