#include "codec/registry.h"

#include "codec/brotli_codec.h"
#include "codec/deflate_codec.h"
#include "codec/gzip_codec.h"
#include "codec/identity_codec.h"
#include "codec/zstd_codec.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::codec {

void Registry::Add(std::unique_ptr<const Codec> codec, const std::vector<std::string>& aliases) {
  Check(codec != nullptr && Find(codec->name()) == nullptr);
  names_.emplace_back(codec->name(), codec.get());
  for (const std::string& alias : aliases) {
    Check(Find(alias) == nullptr);
    names_.emplace_back(alias, codec.get());
  }
  codecs_.push_back(std::move(codec));
}

const Codec* Registry::Find(std::string_view name) const {
  for (const auto& [known, codec] : names_) {
    if (EqualsIgnoreCase(known, name)) return codec;
  }
  return nullptr;
}

Registry StandardRegistry() {
  Registry registry;
  registry.Add(std::make_unique<IdentityCodec>());
  registry.Add(std::make_unique<GzipCodec>(), {"x-gzip"});
  registry.Add(std::make_unique<DeflateCodec>());
  registry.Add(std::make_unique<ZstdCodec>());
  registry.Add(std::make_unique<BrotliCodec>());
  return registry;
}

}  // namespace stele::codec
