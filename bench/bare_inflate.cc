// The floor that an indexer or a checker of .warc.gz files stands on: the same file, inflated
// member by member with libdeflate (the fastest inflate in Debian 12), and nothing else, or only
// the hashing that checking a record cannot do without.
//
//   bare_inflate inflate|sha1|digests [--threads N] FILE...
//
//   inflate   every member is inflated, its CRC checked, and thrown away
//   sha1      and SHA-1 is computed over all of it
//   digests   and, per record, SHA-1 of the block and SHA-1 of the payload behind the HTTP header
//
// Each file is read in big blocks by one thread; N threads take files in turn. Prints one line of
// JSON. Exit codes: 0 done, 2 wrong usage, 3 a file cannot be read or inflated.
#include <fcntl.h>
#include <libdeflate.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr size_t kBlockBytes = size_t{16} << 20;
constexpr size_t kMemberMaxBytes = size_t{1} << 30;

enum class Mode { kInflate, kSha1, kDigests };

struct Totals {
  uint64_t members = 0;
  uint64_t file_bytes = 0;
  uint64_t raw_bytes = 0;
  uint64_t hashed_bytes = 0;

  void Add(const Totals& other) {
    members += other.members;
    file_bytes += other.file_bytes;
    raw_bytes += other.raw_bytes;
    hashed_bytes += other.hashed_bytes;
  }
};

// A file seen through a buffer that always holds the next bytes in one piece.
class Input {
 public:
  explicit Input(const char* path) : file_(open(path, O_RDONLY)), buffer_(2 * kBlockBytes) {}
  ~Input() {
    if (file_ >= 0) close(file_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  bool ok() const { return file_ >= 0 && !failed_; }
  bool at_end() const { return at_end_; }
  std::string_view bytes() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void Skip(size_t count) { begin_ += count; }

  // Reads another block behind the bytes that are there.
  void ReadMore() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (buffer_.size() - end_ < kBlockBytes) buffer_.resize(buffer_.size() * 2);
    const ssize_t got = read(file_, buffer_.data() + end_, kBlockBytes);
    failed_ = failed_ || got < 0;
    at_end_ = got <= 0;
    end_ += static_cast<size_t>(std::max<ssize_t>(got, 0));
  }

 private:
  int file_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  bool failed_ = false;
};

class Sha1 {
 public:
  Sha1() : algorithm_(EVP_MD_fetch(nullptr, "SHA1", nullptr)), context_(EVP_MD_CTX_new()) {}
  ~Sha1() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;

  size_t Hash(std::string_view bytes) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_DigestInit_ex2(context_, algorithm_, nullptr);
    EVP_DigestUpdate(context_, bytes.data(), bytes.size());
    EVP_DigestFinal_ex(context_, digest, nullptr);
    return bytes.size();
  }

 private:
  EVP_MD* algorithm_;
  EVP_MD_CTX* context_;
};

// Hashes what a checker of this record must hash. Knows just enough of WARC for the files that
// make_warc.py writes: one record per member, its block ends before the last two line ends.
uint64_t HashRecord(std::string_view record, Sha1& sha1) {
  constexpr std::string_view kBlankLine = "\r\n\r\n";
  const size_t header_end = record.find(kBlankLine);
  if (header_end == std::string_view::npos || !record.ends_with(kBlankLine)) return 0;
  std::string_view block = record.substr(header_end + kBlankLine.size());
  block.remove_suffix(std::min(block.size(), kBlankLine.size()));
  uint64_t hashed = sha1.Hash(block);
  const size_t http_end = block.starts_with("HTTP/") ? block.find(kBlankLine) : block.npos;
  if (http_end != block.npos) hashed += sha1.Hash(block.substr(http_end + kBlankLine.size()));
  return hashed;
}

class Inflater {
 public:
  explicit Inflater(Mode mode) : mode_(mode), decompressor_(libdeflate_alloc_decompressor()) {}
  ~Inflater() { libdeflate_free_decompressor(decompressor_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // False when the file cannot be read, or is not whole gzip members.
  bool Run(const char* path, Totals& totals) {
    Input input(path);
    while (input.ok()) {
      // Small members are nearly always there in one piece; a large one fails and is tried again.
      if (input.bytes().size() < kBlockBytes / 4 && !input.at_end()) {
        input.ReadMore();
        continue;
      }
      if (input.bytes().empty()) return true;
      if (!Member(input, totals)) return false;
    }
    return false;
  }

 private:
  bool Member(Input& input, Totals& totals) {
    size_t taken = 0;
    size_t made = 0;
    for (;;) {
      const std::string_view bytes = input.bytes();
      const libdeflate_result result = libdeflate_gzip_decompress_ex(
          decompressor_, bytes.data(), bytes.size(), output_.data(), output_.size(), &taken, &made);
      if (result == LIBDEFLATE_SUCCESS) break;
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE && output_.size() < kMemberMaxBytes) {
        output_.resize(output_.size() * 2);
      } else if (!input.at_end() && bytes.size() < kMemberMaxBytes) {
        input.ReadMore();
      } else {
        return false;
      }
    }
    input.Skip(taken);
    const std::string_view raw(output_.data(), made);
    totals.members += 1;
    totals.file_bytes += taken;
    totals.raw_bytes += made;
    if (mode_ == Mode::kSha1) totals.hashed_bytes += sha1_.Hash(raw);
    if (mode_ == Mode::kDigests) totals.hashed_bytes += HashRecord(raw, sha1_);
    return true;
  }

  Mode mode_;
  libdeflate_decompressor* decompressor_;
  std::vector<char> output_ = std::vector<char>(size_t{1} << 20);
  Sha1 sha1_;
};

struct Options {
  std::string mode_name;
  Mode mode = Mode::kInflate;
  unsigned threads = 1;
  std::vector<const char*> files;
};

bool Parse(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  options.mode_name = argv[1];
  if (options.mode_name == "sha1") {
    options.mode = Mode::kSha1;
  } else if (options.mode_name == "digests") {
    options.mode = Mode::kDigests;
  } else if (options.mode_name != "inflate") {
    return false;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--threads" && i + 1 < argc) {
      const std::string_view number = argv[++i];
      std::from_chars(number.data(), number.data() + number.size(), options.threads);
    } else {
      options.files.push_back(argv[i]);
    }
  }
  return !options.files.empty() && options.threads >= 1 && options.threads <= 64;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fputs("usage: bare_inflate inflate|sha1|digests [--threads N] FILE...\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  std::atomic<size_t> next_file = 0;
  std::atomic<bool> failed = false;
  std::vector<Totals> parts(options.threads);
  {
    std::vector<std::jthread> threads;
    for (Totals& part : parts) {
      threads.emplace_back([&options, &next_file, &failed, &part] {
        Inflater inflater(options.mode);
        for (size_t i = next_file++; i < options.files.size(); i = next_file++) {
          if (!inflater.Run(options.files[i], part)) failed = true;
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  Totals totals;
  for (const Totals& part : parts) totals.Add(part);
  std::printf(
      "{\"mode\": \"%s\", \"members\": %ju, \"file_bytes\": %ju, \"raw_bytes\": %ju, "
      "\"hashed_bytes\": %ju, \"seconds\": %.3f, \"raw_mb_per_s\": %.1f}\n",
      options.mode_name.c_str(), uintmax_t{totals.members}, uintmax_t{totals.file_bytes},
      uintmax_t{totals.raw_bytes}, uintmax_t{totals.hashed_bytes}, took.count(),
      static_cast<double>(totals.raw_bytes) / 1e6 / took.count());
  if (failed)
    std::fputs("bare_inflate: a file is not readable, or not whole gzip members\n", stderr);
  return failed ? 3 : 0;
}
