// Index files of the field: a sorted CDX file that is searched by bisection, and ZipNum, where the
// lines are CDXJ, 3000 of them a gzip member, and a summary file has the first key of each member.
// Both are made whole: rows are collected in memory, sorted and written in the end.
#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "catalog_load/contender.h"
#include "formats/url/surt.h"

namespace stele::bench {
namespace {

constexpr std::size_t kMemberLines = 3000;

// "KEY 17-DIGIT-TIME FIELDS\n": what sorts as keys and times do, since no key has a space.
class Lines {
 public:
  void Add(const Row& row, const std::string& fields) {
    ends_.push_back(text_.size());
    text_ += url::SurtKey(row.url);
    text_ += ' ';
    text_ += FormatDigits17(row.capture.time);
    text_ += ' ';
    text_ += fields;
    text_ += '\n';
  }
  // In order.
  template <typename Give>
  void ForEach(const Give& give) {
    ends_.push_back(text_.size());
    std::vector<std::string_view> lines;
    lines.reserve(ends_.size());
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i) {
      lines.push_back(std::string_view(text_).substr(ends_[i], ends_[i + 1] - ends_[i]));
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string_view line : lines) give(line);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

class File {
 public:
  explicit File(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
    Require(file_ != nullptr, "cannot write " + path);
  }
  void Write(std::string_view text) {
    Require(std::fwrite(text.data(), 1, text.size(), file_) == text.size(), "the disk is full");
    bytes_ += text.size();
  }
  void Finish() {
    Require(std::fflush(file_) == 0 && ::fsync(::fileno(file_)) == 0, "the disk is full");
    std::fclose(file_);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::FILE* const file_;
  std::uint64_t bytes_ = 0;
};

// A whole file, for reading.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    Require(file >= 0, "cannot read " + path);
    size_ = std::filesystem::file_size(path);
    void* const bytes = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    Require(bytes != MAP_FAILED, "cannot map " + path);
    ::close(file);
    bytes_ = static_cast<const char*>(bytes);
  }
  ~Mapped() { ::munmap(const_cast<char*>(bytes_), size_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::string_view text() const { return {bytes_, size_}; }

 private:
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

std::string_view LineAt(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

// Where the first line begins that is not before `at`.
std::size_t LowerBound(std::string_view text, std::string_view at) {
  std::size_t low = 0;
  std::size_t high = text.size();
  while (low < high) {
    std::size_t middle = low + (high - low) / 2;
    middle = middle == 0 ? 0 : text.rfind('\n', middle - 1) + 1;  // npos + 1 is 0
    middle = std::max(middle, low);
    const std::string_view line = LineAt(text, middle);
    if (line < at) {
      low = middle + line.size() + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct Parsed {
  std::string_view key;
  std::string_view time;
};
Parsed Parse(std::string_view line) {
  const std::size_t space = line.find(' ');
  return {line.substr(0, space), line.substr(space + 1, 17)};
}

// Where a reader stands in sorted lines. Moves give an empty line behind the ends.
class Place {
 public:
  virtual ~Place() = default;
  virtual std::string_view Seek(const std::string& at) = 0;
  virtual std::string_view Next() = 0;
  // The line before the one where Seek() led.
  virtual std::string_view Before() = 0;
};

class CdxPlace final : public Place {
 public:
  explicit CdxPlace(std::string_view text) : text_(text) {}
  std::string_view Seek(const std::string& at) override {
    at_ = LowerBound(text_, at);
    return Line();
  }
  std::string_view Next() override {
    at_ += Line().size() + 1;
    return Line();
  }
  std::string_view Before() override {
    if (at_ == 0) return {};
    const std::size_t begin = at_ < 2 ? 0 : text_.rfind('\n', at_ - 2) + 1;
    return LineAt(text_, begin);
  }

 private:
  std::string_view Line() const { return at_ >= text_.size() ? "" : LineAt(text_, at_); }
  const std::string_view text_;
  std::size_t at_ = 0;
};

// One member is unpacked at a time. The summary has "KEY TIME\tOFFSET\tLENGTH\tUNPACKED" lines.
class ZipNumPlace final : public Place {
 public:
  ZipNumPlace(std::string_view packed, const std::vector<std::string_view>& members)
      : packed_(packed), members_(members), inflate_(libdeflate_alloc_decompressor()) {}
  ~ZipNumPlace() override { libdeflate_free_decompressor(inflate_); }
  ZipNumPlace(const ZipNumPlace&) = delete;
  ZipNumPlace& operator=(const ZipNumPlace&) = delete;

  std::string_view Seek(const std::string& at) override {
    const auto behind = std::upper_bound(members_.begin(), members_.end(), at);
    member_ =
        behind == members_.begin() ? 0 : static_cast<std::size_t>(behind - members_.begin()) - 1;
    Load();
    at_ = LowerBound(lines_, at);
    if (at_ < lines_.size() || member_ + 1 >= members_.size()) return Line();
    ++member_;
    Load();
    at_ = 0;
    return Line();
  }
  std::string_view Next() override {
    at_ += Line().size() + 1;
    if (at_ >= lines_.size() && member_ + 1 < members_.size()) {
      ++member_;
      Load();
      at_ = 0;
    }
    return Line();
  }
  std::string_view Before() override {
    if (at_ == 0) {
      if (member_ == 0) return {};
      --member_;
      Load();
      at_ = lines_.size();
    }
    const std::size_t begin = at_ < 2 ? 0 : lines_.rfind('\n', at_ - 2) + 1;
    return LineAt(lines_, begin);
  }

 private:
  std::string_view Line() const {
    return at_ >= lines_.size() ? std::string_view() : LineAt(lines_, at_);
  }
  void Load() {
    std::string_view rest = members_[member_];
    std::uint64_t numbers[3] = {};
    for (std::uint64_t& number : numbers) {
      rest.remove_prefix(rest.find('\t') + 1);
      std::from_chars(rest.data(), rest.data() + rest.size(), number);
    }
    lines_.resize(numbers[2]);
    const auto result = libdeflate_gzip_decompress(
        inflate_, packed_.data() + numbers[0], numbers[1], lines_.data(), lines_.size(), nullptr);
    Require(result == LIBDEFLATE_SUCCESS, "a member that cannot be unpacked");
  }

  const std::string_view packed_;
  const std::vector<std::string_view>& members_;
  libdeflate_decompressor* const inflate_;
  std::size_t member_ = 0;
  std::string lines_;
  std::size_t at_ = 0;
};

class SortedLines : public Contender {
 public:
  void Nearest(std::string_view key, Timestamp time, const Take& take) override {
    const std::string line = FindNearest(key, time);
    if (!line.empty()) take(key, *ParseDigits(Parse(line).time));
  }
  std::size_t NearestLine(std::string_view key, Timestamp time) override {
    const std::string line = FindNearest(key, time);
    return line.empty() ? 0 : line.size() - key.size() - 19;
  }
  void Span(std::string_view key, Timestamp from, Timestamp to, const Take& take) override {
    const auto place = NewPlace();
    const std::string last = fmt::format("{} {}", key, FormatDigits17(to));
    std::string_view line = place->Seek(fmt::format("{} {}", key, FormatDigits17(from)));
    for (; !line.empty() && line.substr(0, last.size()) <= last; line = place->Next()) {
      take(key, *ParseDigits(Parse(line).time));
    }
  }
  void Prefix(std::string_view prefix, const Take& take) override {
    Scan(prefix,
         [&](std::string_view key, std::string_view time) { take(key, *ParseDigits(time)); });
  }
  void AcquiredIn(Timestamp from, Timestamp to, const Take& take) override {
    const std::string first = FormatDigits17(from);
    const std::string last = FormatDigits17(to);
    Scan("", [&](std::string_view key, std::string_view time) {
      if (first <= time && time <= last) take(key, *ParseDigits(time));
    });
  }
  void Alive(std::string_view prefix, Timestamp from, Timestamp to, const Take& take) override {
    AliveFilter filter(from, to, take);
    Scan(prefix,
         [&](std::string_view key, std::string_view time) { filter.Add(key, *ParseDigits(time)); });
    filter.Flush();
  }

 protected:
  virtual std::unique_ptr<Place> NewPlace() = 0;

 private:
  // Empty when there is none.
  std::string FindNearest(std::string_view key, Timestamp time) {
    const auto place = NewPlace();
    const auto distance = [&](const std::string& line) {
      return std::abs(ParseDigits(Parse(line).time)->milliseconds - time.milliseconds);
    };
    std::string after(place->Seek(fmt::format("{} {}", key, FormatDigits17(time))));
    if (after.empty() || Parse(after).key != key) after.clear();
    std::string before(place->Before());
    if (before.empty() || Parse(before).key != key) before.clear();
    if (before.empty() || after.empty()) return before.empty() ? after : before;
    return distance(after) < distance(before) ? after : before;
  }

  template <typename Give>
  void Scan(std::string_view prefix, const Give& give) {
    const auto place = NewPlace();
    std::string_view line = place->Seek(std::string(prefix));
    for (; line.starts_with(prefix) && !line.empty(); line = place->Next()) {
      const Parsed parsed = Parse(line);
      give(parsed.key, parsed.time);
    }
  }
};

class Cdx final : public SortedLines {
 public:
  Cdx(const std::string& directory, bool fill) : path_(directory + "/captures.cdx") {
    if (!fill) mapped_ = std::make_unique<Mapped>(path_);
  }
  void Add(std::span<const Row> rows) override {
    for (const Row& row : rows) lines_.Add(row, CdxFields(row.capture));
  }
  void Finish() override {
    File file(path_);
    lines_.ForEach([&](std::string_view line) { file.Write(line); });
    file.Finish();
  }

 private:
  std::unique_ptr<Place> NewPlace() override { return std::make_unique<CdxPlace>(mapped_->text()); }

  const std::string path_;
  Lines lines_;
  std::unique_ptr<Mapped> mapped_;
};

class ZipNum final : public SortedLines {
 public:
  ZipNum(const std::string& directory, bool fill)
      : packed_path_(directory + "/captures.cdxj.gz"),
        summary_path_(directory + "/captures.summary") {
    if (fill) return;
    packed_ = std::make_unique<Mapped>(packed_path_);
    summary_ = std::make_unique<Mapped>(summary_path_);
    for (std::size_t at = 0; at < summary_->text().size(); at += members_.back().size() + 1) {
      members_.push_back(LineAt(summary_->text(), at));
    }
  }
  void Add(std::span<const Row> rows) override {
    for (const Row& row : rows) lines_.Add(row, CdxjFields(row.capture));
  }
  void Finish() override {
    File packed(packed_path_);
    File summary(summary_path_);
    libdeflate_compressor* const deflate = libdeflate_alloc_compressor(6);
    std::string member;
    std::size_t lines = 0;
    const auto write = [&] {
      if (member.empty()) return;
      std::string bytes(libdeflate_gzip_compress_bound(deflate, member.size()), '\0');
      bytes.resize(libdeflate_gzip_compress(deflate, member.data(), member.size(), bytes.data(),
                                            bytes.size()));
      const Parsed first = Parse(member);
      summary.Write(fmt::format("{} {}\t{}\t{}\t{}\n", first.key, first.time, packed.bytes(),
                                bytes.size(), member.size()));
      packed.Write(bytes);
      member.clear();
      lines = 0;
    };
    lines_.ForEach([&](std::string_view line) {
      member += line;
      if (++lines == kMemberLines) write();
    });
    write();
    libdeflate_free_compressor(deflate);
    packed.Finish();
    summary.Finish();
  }

 private:
  std::unique_ptr<Place> NewPlace() override {
    return std::make_unique<ZipNumPlace>(packed_->text(), members_);
  }

  const std::string packed_path_;
  const std::string summary_path_;
  Lines lines_;
  std::unique_ptr<Mapped> packed_;
  std::unique_ptr<Mapped> summary_;
  std::vector<std::string_view> members_;
};

}  // namespace

std::unique_ptr<Contender> MakeCdx(const std::string& directory, bool fill) {
  return std::make_unique<Cdx>(directory, fill);
}

std::unique_ptr<Contender> MakeZipNum(const std::string& directory, bool fill) {
  return std::make_unique<ZipNum>(directory, fill);
}

}  // namespace stele::bench
