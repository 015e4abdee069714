#include <fmt/format.h>

#include <utility>

#include "io/posix_file_system.h"
#include "store/remote/connect.h"
#include "store_load/store_client.h"

namespace stele::bench {
namespace {

class SteleClient final : public StoreClient {
 public:
  explicit SteleClient(SteleTarget target) : target_(std::move(target)) {}

  Status Connect() override {
    Result<store::RemoteStore> store = store::ConnectFile(fs_, target_.connector_file, {});
    if (!store) return store.error();
    store_.emplace(*std::move(store));
    for (const auto& volume : instance().volumes()) {
      const Result<store::VolumeStats> stats = volume->Stats();
      if (!stats) return stats.error();
    }
    return {};
  }

  Result<Kept> Store(std::string_view content, std::size_t page,
                     const std::string& operation) override {
    store::Instance::StoreOptions options;
    options.mode = target_.manner.mode;
    options.media_type = "text/html";
    options.operation = {"bench", operation};
    const auto& volumes = instance().volumes();
    if (target_.manner.choose_volume) options.volume = volumes[page % volumes.size()]->name();
    const Result<store::Stored> stored = instance().Store(content, options);
    if (!stored) return stored.error();
    return Kept{stored->key.Text(), stored->key.volume, stored->is_new};
  }

  Status Retrieve(const std::string& key, const store::Signature&) override {
    const std::optional<store::ContentKey> parsed = store::ContentKey::Parse(key);
    if (!parsed) return Error{ErrorCode::kInvalid, key + " is no key"};
    const Result<std::unique_ptr<io::Source>> content = instance().Retrieve(*parsed);
    if (!content) return content.error();
    for (;;) {
      const Result<std::size_t> read = (*content)->Read(room_);
      if (!read) return read.error();
      if (*read == 0) return {};
    }
  }

  Status Delete(const std::string& key, const std::string& operation) override {
    const std::optional<store::ContentKey> parsed = store::ContentKey::Parse(key);
    if (!parsed) return Error{ErrorCode::kInvalid, key + " is no key"};
    return instance().Delete(*parsed, {"bench", operation});
  }

 private:
  store::Instance& instance() { return *store_->instance; }

  const SteleTarget target_;
  io::PosixFileSystem fs_;
  std::optional<store::RemoteStore> store_;
  std::string room_ = std::string(64 << 10, '\0');
};

}  // namespace

std::unique_ptr<StoreClient> NewSteleClient(const SteleTarget& target) {
  return std::make_unique<SteleClient>(target);
}

}  // namespace stele::bench
