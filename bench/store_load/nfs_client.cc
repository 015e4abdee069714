// NFSv3 by libnfs, a context per client, without any cache in the client.
//
// Durable: libnfs writes "unstable", and nfs_close() sends a COMMIT for what was written, which
// nfs-ganesha answers after an fsync of the file. That makes the file's name durable too on ext4,
// where the fsync of a new file writes its directory as well. REMOVE is answered without any sync:
// see sync_unlink.cc.
#include "store_load/store_client.h"

#if STELE_HAS_LIBNFS
#include <fcntl.h>
#include <fmt/format.h>
#include <nfsc/libnfs.h>

#include <memory>
#include <utility>

#include "store/signature.h"
#endif

namespace stele::bench {

#if STELE_HAS_LIBNFS
namespace {

struct ContextDeleter {
  void operator()(nfs_context* context) const { nfs_destroy_context(context); }
};
struct UrlDeleter {
  void operator()(nfs_url* url) const { nfs_destroy_url(url); }
};

class NfsClient final : public StoreClient {
 public:
  explicit NfsClient(NfsTarget target) : target_(std::move(target)) {}

  Status Connect() override {
    context_.reset(nfs_init_context());
    if (context_ == nullptr) return Error{ErrorCode::kIo, "libnfs gives no context"};
    const std::unique_ptr<nfs_url, UrlDeleter> url(
        nfs_parse_url_dir(context_.get(), target_.url.c_str()));
    if (url == nullptr) return Failed("parse", target_.url);
    if (nfs_mount(context_.get(), url->server, url->path) != 0) return Failed("mount", target_.url);
    return {};
  }

  Result<Kept> Store(std::string_view content, std::size_t page, const std::string&) override {
    const std::string path = fmt::format("/{}.html", page);
    nfsfh* file = nullptr;
    if (nfs_creat(context_.get(), path.c_str(), 0644, &file) != 0) return Failed("create", path);
    Status status;
    while (!content.empty() && status) {
      const int size = nfs_write(context_.get(), file, content.size(), content.data());
      if (size <= 0) status = Failed("write", path);
      if (size > 0) content.remove_prefix(static_cast<std::size_t>(size));
    }
    if (nfs_close(context_.get(), file) != 0 && status) status = Failed("close", path);
    if (!status) return status.error();
    return Kept{path, "", true};
  }

  Status Retrieve(const std::string& key, const store::Signature& sha256) override {
    nfsfh* file = nullptr;
    if (nfs_open(context_.get(), key.c_str(), O_RDONLY, &file) != 0) return Failed("open", key);
    const auto signing = signatures_.NewStream();
    Status status;
    for (;;) {
      const int size = nfs_read(context_.get(), file, room_.size(), room_.data());
      if (size < 0) status = Failed("read", key);
      if (size <= 0) break;
      signing->Update(std::string_view(room_).substr(0, static_cast<std::size_t>(size)));
      // A read that gave less than was asked for met the end: no other is sent to see it.
      if (static_cast<std::size_t>(size) < room_.size()) break;
    }
    if (nfs_close(context_.get(), file) != 0 && status) status = Failed("close", key);
    if (!status) return status;
    if (signing->Finish() == sha256) return {};
    return Error{ErrorCode::kCorrupt, key + ": other bytes than were stored"};
  }

  Status Delete(const std::string& key, const std::string&) override {
    return nfs_unlink(context_.get(), key.c_str()) == 0 ? Status() : Failed("unlink", key);
  }

 private:
  Error Failed(std::string_view what, std::string_view path) const {
    return {ErrorCode::kIo, fmt::format("{} {}: {}", what, path, nfs_get_error(context_.get()))};
  }

  const NfsTarget target_;
  std::unique_ptr<nfs_context, ContextDeleter> context_;
  const store::Sha256Signatures signatures_;
  std::string room_ = std::string(256 << 10, '\0');
};

}  // namespace

std::unique_ptr<StoreClient> NewNfsClient(const NfsTarget& target) {
  return std::make_unique<NfsClient>(target);
}

#else

std::unique_ptr<StoreClient> NewNfsClient(const NfsTarget&) { return nullptr; }

#endif
}  // namespace stele::bench
