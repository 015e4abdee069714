#include "codec/zstd_codec.h"

#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/whole_buffer.h"
#include "util/check.h"

namespace stele::codec {

struct ZstdDictionary {
  struct Free {
    void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
  };
  std::string bytes;
  std::unique_ptr<ZSTD_DDict, Free> for_decoding;
};

namespace {

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder(std::shared_ptr<const ZstdDictionary> dictionary, int window_log_max)
      : dictionary_(std::move(dictionary)), context_(ZSTD_createDCtx()) {
    Check(context_ != nullptr);
    Check(
        !ZSTD_isError(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, window_log_max)));
    if (dictionary_ != nullptr) {
      Check(!ZSTD_isError(ZSTD_DCtx_refDDict(context_.get(), dictionary_->for_decoding.get())));
    }
  }

  Result<Progress> Decode(std::string_view in, std::span<char> out) override {
    if (error_) return *error_;
    if (done_) return Progress{0, 0, true};
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    // Where the library stops between blocks although both sides have bytes left, call it again.
    std::size_t outcome = 0;
    for (;;) {
      const std::size_t in_before = input.pos;
      const std::size_t out_before = output.pos;
      outcome = ZSTD_decompressStream(context_.get(), &output, &input);
      if (ZSTD_isError(outcome) || outcome == 0) break;
      if (input.pos == input.size || output.pos == output.size) break;
      if (input.pos == in_before && output.pos == out_before) break;
    }
    Progress progress{input.pos, output.pos, false};
    if (ZSTD_isError(outcome)) {
      error_ = Error{ErrorCode::kCorrupt, std::string("zstd: ") + ZSTD_getErrorName(outcome)};
      if (progress.produced == 0) return *error_;
    }
    done_ = outcome == 0;
    progress.done = done_;
    return progress;
  }

  void Reset() override {
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    done_ = false;
    error_.reset();
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::shared_ptr<const ZstdDictionary> dictionary_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  bool done_ = false;
  std::optional<Error> error_;
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder(const ZstdDictionary* dictionary, int level) : context_(ZSTD_createCCtx()) {
    Check(context_ != nullptr);
    Set(ZSTD_c_compressionLevel, std::clamp(level, 1, 19));
    Set(ZSTD_c_contentSizeFlag, 1);
    Set(ZSTD_c_checksumFlag, 1);
    Set(ZSTD_c_dictIDFlag, 1);
    if (dictionary != nullptr) {
      Check(!ZSTD_isError(ZSTD_CCtx_loadDictionary(context_.get(), dictionary->bytes.data(),
                                                   dictionary->bytes.size())));
    }
  }

  void ExpectSize(std::uint64_t size) override {
    Check(!ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context_.get(), size)));
  }

  Result<Progress> Encode(std::string_view in, std::span<char> out, bool finish) override {
    if (done_) return Progress{0, 0, true};
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t outcome = ZSTD_compressStream2(context_.get(), &output, &input,
                                                     finish ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(outcome)) {
      return Error{ErrorCode::kInvalid, std::string("zstd: ") + ZSTD_getErrorName(outcome)};
    }
    done_ = finish && outcome == 0;
    return Progress{input.pos, output.pos, done_};
  }

  void Reset() override {
    ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
    done_ = false;
  }

 private:
  void Set(ZSTD_cParameter parameter, int value) {
    Check(!ZSTD_isError(ZSTD_CCtx_setParameter(context_.get(), parameter, value)));
  }

  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  bool done_ = false;
};

constexpr std::string_view kTrainedMagic("\x37\xA4\x30\xEC", 4);

}  // namespace

ZstdCodec::ZstdCodec(int window_log_max)
    : window_log_max_(std::clamp(window_log_max, kWindowLogLeast, kWindowLogMost)) {}

Result<std::unique_ptr<ZstdCodec>> ZstdCodec::WithDictionary(std::string dictionary,
                                                             int window_log_max) {
  if (dictionary.empty()) return Error{ErrorCode::kInvalid, "an empty zstd dictionary"};
  auto prepared = std::make_shared<ZstdDictionary>();
  prepared->bytes = std::move(dictionary);
  prepared->for_decoding.reset(ZSTD_createDDict(prepared->bytes.data(), prepared->bytes.size()));
  // The library takes a trained dictionary that does not parse for raw bytes or gives nothing,
  // depending on where it breaks; both mean that frames made with it cannot be read.
  const bool trained = prepared->bytes.starts_with(kTrainedMagic);
  if (prepared->for_decoding == nullptr ||
      (trained &&
       ZDICT_isError(ZDICT_getDictHeaderSize(prepared->bytes.data(), prepared->bytes.size())))) {
    return Error{ErrorCode::kCorrupt, "a zstd dictionary that does not parse"};
  }
  auto codec = std::make_unique<ZstdCodec>(window_log_max);
  codec->dictionary_ = std::move(prepared);
  return codec;
}

std::uint32_t ZstdCodec::dictionary_id() const {
  if (dictionary_ == nullptr) return 0;
  return ZSTD_getDictID_fromDDict(dictionary_->for_decoding.get());
}

std::unique_ptr<Decoder> ZstdCodec::NewDecoder() const {
  return std::make_unique<ZstdDecoder>(dictionary_, window_log_max_);
}

std::unique_ptr<Encoder> ZstdCodec::NewEncoder(int level) const {
  return std::make_unique<ZstdEncoder>(dictionary_.get(), level);
}

Result<std::string> ZstdCodec::Compress(std::string_view bytes, int level) const {
  ZstdEncoder encoder(dictionary_.get(), level);
  return CompressWith(encoder, bytes);
}

Result<std::string> ZstdCodec::Decompress(std::string_view bytes, std::size_t size_max) const {
  ZstdDecoder decoder(dictionary_, window_log_max_);
  return DecompressWith(decoder, bytes, size_max);
}

Result<std::string> TrainDictionary(const std::vector<std::string_view>& samples,
                                    std::size_t size_max) {
  std::string joined;
  std::vector<std::size_t> sizes;
  for (const std::string_view sample : samples) {
    joined += sample;
    sizes.push_back(sample.size());
  }
  std::string dictionary(size_max, '\0');
  const std::size_t size =
      ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), joined.data(), sizes.data(),
                            static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size)) {
    return Error{ErrorCode::kInvalid,
                 std::string("cannot train a zstd dictionary: ") + ZDICT_getErrorName(size)};
  }
  dictionary.resize(size);
  return dictionary;
}

}  // namespace stele::codec
