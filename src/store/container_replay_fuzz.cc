// Whatever stands in a container, opening the volume ends, keeps what can be read, and leads to the
// same answers with and without its table. Inputs that begin with 'z' are bytes of a container as
// they are; in all others, the parts between NULs are compressed, a member each.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codec/gzip_codec.h"
#include "io/memory_file_system.h"
#include "store/container_volume.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string ContainerOf(std::string_view input) {
  if (input.starts_with('z')) return std::string(input.substr(1));
  std::string bytes;
  for (const std::string_view part : Split(input, '\0')) {
    if (!part.empty()) bytes += *codec::GzipCodec().Compress(part, 1);
  }
  return bytes;
}

class Disk {
 public:
  explicit Disk(const std::string& container) {
    Require(ContainerVolume::Create(fs_, "v", {"tomba", "sha256", 0}).ok());
    Require(io::ReplaceFile(fs_, "v/containers/00000001.warc.gz.open", container).ok());
  }
  std::unique_ptr<ContainerVolume> Open() {
    auto volume = ContainerVolume::Open({fs_, clock_, random_}, "v",
                                        std::make_unique<MemoryBlockTable>(), {});
    Require(volume.ok());
    return *std::move(volume);
  }

 private:
  io::MemoryFileSystem fs_;
  io::ManualClock clock_{Timestamp{0}};
  io::SeededRandom random_{1};
};

struct Answers {
  std::uint64_t blocks = 0;
  std::uint64_t references = 0;
  std::vector<std::string> findings;

  explicit Answers(ContainerVolume& volume) {
    const Result<VolumeStats> stats = volume.Stats();
    Require(stats.ok());
    blocks = stats->blocks;
    references = stats->references;
    Require(
        volume.Verify({[&](const Finding& finding) { findings.push_back(finding.where); }}).ok());
  }
  friend bool operator==(const Answers&, const Answers&) = default;
};

}  // namespace
}  // namespace stele::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::store;
  using stele::io::MemorySource;
  if (size > 64 << 10) return 0;
  Disk disk(ContainerOf({reinterpret_cast<const char*>(data), size}));
  std::unique_ptr<ContainerVolume> volume = disk.Open();
  Require(volume->torn().size() <= 1);
  const Answers before(*volume);
  volume.reset();
  volume = disk.Open();
  Require(volume->torn().empty());
  Require(Answers(*volume) == before);
  const std::string content = "what comes after it";
  const Signature signature = volume->signature().Of(content);
  MemorySource source(content);
  const auto stored = volume->Store(
      {signature, content.size(), StoreMode::kForceNew, "text/plain", {"fuzzer", "afterwards"}},
      source);
  Require(stored.ok());
  const auto read = volume->Retrieve(stored->key);
  std::string room(100, '\0');
  Require(read && *(*read)->Read(room) == content.size());
  Require(room.starts_with(content));
  return 0;
}
