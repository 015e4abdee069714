// The end of the file says where the directory is, the directory says where the entries are. A
// local header is looked at when its entry is read: it says only where its bytes begin.
#include "formats/zip/zip_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codec/crc32.h"
#include "codec/deflate_codec.h"
#include "formats/zip/zip_format.h"
#include "util/coding.h"

namespace stele::zip {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

Error Bad(std::string_view what) { return Error{ErrorCode::kCorrupt, std::string(what)}; }

std::uint16_t Fixed16(ByteReader& reader) {
  const std::string_view bytes = reader.Bytes(2);
  if (bytes.size() < 2) return 0;
  return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[0]) |
                                    static_cast<unsigned char>(bytes[1]) << 8);
}

// Exactly these bytes. Errors: kCorrupt when the file ends before.
Result<std::string> ReadExactly(const io::ReadableFile& file, std::uint64_t offset,
                                std::uint64_t size) {
  std::string bytes(size, '\0');
  const Result<std::size_t> read = file.ReadAt(offset, bytes);
  if (!read) return read.error();
  if (*read != size) return Bad("the ZIP file ends too early");
  return bytes;
}

// Where the directory is.
struct Directory {
  Range range;
  std::uint64_t entries = 0;
};

Result<std::uint64_t> FindEnd(const io::ReadableFile& file, std::uint64_t size, std::string& end) {
  const std::uint64_t looked = std::min<std::uint64_t>(size, kEndBytes + kCommentBytesMax);
  Result<std::string> tail = ReadExactly(file, size - looked, looked);
  if (!tail) return tail.error();
  if (looked >= kEndBytes) {
    for (std::size_t at = looked - kEndBytes + 1; at-- > 0;) {
      ByteReader reader(std::string_view(*tail).substr(at));
      if (reader.Fixed32() != kEndSignature) continue;
      reader.Bytes(kEndBytes - 6);
      if (Fixed16(reader) != looked - at - kEndBytes) continue;  // its comment fills the file
      end = tail->substr(at, kEndBytes);
      return size - looked + at;
    }
  }
  return Error{ErrorCode::kInvalid, "it is no ZIP file, or its end is missing"};
}

Result<Directory> ReadEnd64(const io::ReadableFile& file, std::uint64_t locator_at) {
  Result<std::string> locator = ReadExactly(file, locator_at, kLocator64Bytes);
  if (!locator) return locator.error();
  ByteReader at(*locator);
  if (at.Fixed32() != kLocator64Signature) return Bad("the ZIP file has no 64-bit end");
  at.Fixed32();
  const std::uint64_t offset = at.Fixed64();
  if (offset > locator_at || locator_at - offset < kEnd64Bytes) {
    return Bad("the 64-bit end of the ZIP file is not where it should be");
  }
  Result<std::string> bytes = ReadExactly(file, offset, kEnd64Bytes);
  if (!bytes) return bytes.error();
  ByteReader end(*bytes);
  if (end.Fixed32() != kEnd64Signature) return Bad("the 64-bit end of the ZIP file is damaged");
  end.Bytes(8 + 2 + 2);
  const std::uint32_t disk = end.Fixed32();
  const std::uint32_t directory_disk = end.Fixed32();
  const std::uint64_t entries_here = end.Fixed64();
  Directory directory;
  directory.entries = end.Fixed64();
  const std::uint64_t size = end.Fixed64();
  directory.range.begin = end.Fixed64();
  if (disk != 0 || directory_disk != 0 || entries_here != directory.entries) {
    return Error{ErrorCode::kInvalid, "it is one part of a ZIP file of several"};
  }
  if (directory.range.begin > offset || size > offset - directory.range.begin) {
    return Bad("the directory of the ZIP file is not inside the file");
  }
  directory.range.end = directory.range.begin + size;
  return directory;
}

Result<Directory> FindDirectory(const io::ReadableFile& file) {
  const Result<std::uint64_t> size = file.Size();
  if (!size) return size.error();
  std::string bytes;
  const Result<std::uint64_t> end = FindEnd(file, *size, bytes);
  if (!end) return end.error();
  ByteReader reader(bytes);
  reader.Fixed32();
  const std::uint16_t disk = Fixed16(reader);
  const std::uint16_t directory_disk = Fixed16(reader);
  const std::uint16_t entries_here = Fixed16(reader);
  const std::uint16_t entries = Fixed16(reader);
  const std::uint32_t directory_bytes = reader.Fixed32();
  const std::uint32_t offset = reader.Fixed32();
  const bool elsewhere =
      entries == kElsewhere16 || directory_bytes == kElsewhere32 || offset == kElsewhere32;
  if (elsewhere && *end >= kLocator64Bytes) {
    Result<Directory> directory = ReadEnd64(file, *end - kLocator64Bytes);
    if (directory || entries != kElsewhere16 || directory_bytes == kElsewhere32) return directory;
    // Exactly 65535 entries need no 64 bits.
  }
  if (disk != 0 || directory_disk != 0 || entries_here != entries) {
    return Error{ErrorCode::kInvalid, "it is one part of a ZIP file of several"};
  }
  if (offset > *end || directory_bytes > *end - offset) {
    return Bad("the directory of the ZIP file is not inside the file");
  }
  return Directory{{offset, std::uint64_t{offset} + directory_bytes}, entries};
}

// Takes from the extra field what did not fit into 32 bits, in the order of the standard.
bool TakeExtra64(std::string_view extra, std::vector<std::uint64_t*> wanted) {
  if (wanted.empty()) return true;
  ByteReader fields(extra);
  while (!fields.AtEnd()) {
    const std::uint16_t id = Fixed16(fields);
    const std::uint16_t size = Fixed16(fields);
    ByteReader field(fields.Bytes(size));
    if (!fields.good()) return false;
    if (id != kExtra64) continue;
    for (std::uint64_t* number : wanted) *number = field.Fixed64();
    return field.good();
  }
  return false;
}

bool IsGoodName(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos ||
      name.find('\\') != std::string_view::npos) {
    return false;
  }
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..") return false;
    at = end + 1;
  }
  return true;
}

Result<Entry> ReadEntry(ByteReader& reader) {
  if (reader.Fixed32() != kCentralSignature) return Bad("the directory of the ZIP file is damaged");
  Entry entry;
  Fixed16(reader);
  Fixed16(reader);
  entry.is_encrypted = (Fixed16(reader) & kEncryptedFlag) != 0;
  const std::uint16_t method = Fixed16(reader);
  entry.method = method == kStoredMethod     ? Method::kStored
                 : method == kDeflatedMethod ? Method::kDeflated
                                             : Method::kOther;
  reader.Fixed32();  // time
  entry.crc32 = reader.Fixed32();
  entry.packed_bytes = reader.Fixed32();
  entry.bytes = reader.Fixed32();
  const std::uint16_t name_bytes = Fixed16(reader);
  const std::uint16_t extra_bytes = Fixed16(reader);
  const std::uint16_t comment_bytes = Fixed16(reader);
  reader.Bytes(2 + 2 + 4);  // disk and attributes
  entry.header = reader.Fixed32();
  entry.name = reader.Bytes(name_bytes);
  const std::string_view extra = reader.Bytes(extra_bytes);
  reader.Bytes(comment_bytes);
  if (!reader.good()) return Bad("the directory of the ZIP file ends too early");
  std::vector<std::uint64_t*> wanted;
  for (std::uint64_t* number : {&entry.bytes, &entry.packed_bytes, &entry.header}) {
    if (*number == kElsewhere32) wanted.push_back(number);
  }
  if (!TakeExtra64(extra, wanted)) return Bad("a 64-bit number is missing in the ZIP file");
  if (!IsGoodName(entry.name)) {
    return Bad(fmt::format("the ZIP file has a member with the name '{}'", entry.name));
  }
  if (entry.method == Method::kStored && !entry.is_encrypted && entry.packed_bytes != entry.bytes) {
    return Bad(fmt::format("{}: stored, but with two different sizes", entry.name));
  }
  return entry;
}

// Puts them in the order of the file and looks whether they can all be there. Errors: kCorrupt.
Status Arrange(std::vector<Entry>& entries, std::uint64_t directory) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.header < b.header; });
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    entry.limit = i + 1 < entries.size() ? entries[i + 1].header : directory;
    if (entry.header > entry.limit || entry.limit - entry.header < kLocalBytes ||
        entry.limit - entry.header - kLocalBytes < entry.packed_bytes) {
      return Bad(fmt::format("{}: lies across another part of the ZIP file", entry.name));
    }
    if (!names.insert(entry.name).second) {
      return Bad(fmt::format("{}: is in the ZIP file twice", entry.name));
    }
  }
  return {};
}

// Shows a part of a file.
class SliceFile final : public io::ReadableFile {
 public:
  SliceFile(std::shared_ptr<const io::ReadableFile> file, Range range)
      : file_(std::move(file)), range_(range) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    const std::uint64_t size = range_.end - range_.begin;
    if (offset >= size) return std::size_t{0};
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size - offset));
    return file_->ReadAt(range_.begin + offset, out.first(wanted));
  }
  Result<std::uint64_t> Size() const override { return range_.end - range_.begin; }

 private:
  const std::shared_ptr<const io::ReadableFile> file_;
  const Range range_;
};

// Passes on what it reads, and compares size and checksum at the end.
class CheckedSource final : public io::Source {
 public:
  CheckedSource(std::unique_ptr<io::Source> source, const Entry& entry)
      : source_(std::move(source)), name_(entry.name), crc32_(entry.crc32), rest_(entry.bytes) {}

  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = source_->Read(out);
    if (!read) return read;
    if (*read > rest_ || (*read == 0 && rest_ > 0)) {
      return Bad(fmt::format("{}: has not the size that the ZIP file says", name_));
    }
    rest_ -= *read;
    seen_ = codec::Crc32(seen_, std::string_view(out.data(), *read));
    if (*read == 0 && seen_ != crc32_) {
      return Bad(fmt::format("{}: has not the checksum that the ZIP file says", name_));
    }
    return read;
  }

 private:
  const std::unique_ptr<io::Source> source_;
  const std::string name_;
  const std::uint32_t crc32_;
  std::uint64_t rest_;
  std::uint32_t seen_ = 0;
};

class InflatingSource final : public io::Source {
 public:
  explicit InflatingSource(std::unique_ptr<io::Source> packed)
      : packed_(std::move(packed)), decoder_(codec::DeflateCodec().NewDecoder()) {}

  Result<std::size_t> Read(std::span<char> out) override {
    while (!done_) {
      if (rest_.empty()) {
        buffer_.resize(kPieceBytes);
        Result<std::size_t> read = packed_->Read(buffer_);
        if (!read) return read;
        rest_ = std::string_view(buffer_).substr(0, *read);
      }
      const bool at_end = rest_.empty();
      Result<codec::Progress> step = decoder_->Decode(rest_, out);
      if (!step) return step.error();
      rest_.remove_prefix(step->consumed);
      done_ = step->done;
      if (step->produced > 0) return step->produced;
      if (at_end && !done_) return Bad("a deflated member of the ZIP file ends too early");
    }
    return std::size_t{0};
  }

 private:
  const std::unique_ptr<io::Source> packed_;
  const std::unique_ptr<codec::Decoder> decoder_;
  std::string buffer_;
  std::string_view rest_;
  bool done_ = false;
};

}  // namespace

bool LooksLikeZip(std::string_view begin) {
  const std::uint32_t signature = ByteReader(begin).Fixed32();
  return signature == kLocalSignature || signature == kEndSignature;
}

Result<std::unique_ptr<ZipReader>> ZipReader::Open(std::shared_ptr<const io::ReadableFile> file) {
  std::unique_ptr<ZipReader> zip(new ZipReader(std::move(file)));
  const Result<Directory> directory = FindDirectory(*zip->file_);
  if (!directory) return directory.error();
  const std::uint64_t size = directory->range.end - directory->range.begin;
  if (size > kDirectoryBytesMax) {
    return Error{ErrorCode::kFull, fmt::format("the directory of the ZIP file has {} bytes, and at "
                                               "most {} are read",
                                               size, kDirectoryBytesMax)};
  }
  if (directory->entries > size / kCentralBytes) {
    return Bad("the ZIP file says that it has more members than its directory has room for");
  }
  Result<std::string> bytes = ReadExactly(*zip->file_, directory->range.begin, size);
  if (!bytes) return bytes.error();
  ByteReader reader(*bytes);
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    Result<Entry> entry = ReadEntry(reader);
    if (!entry) return entry.error();
    zip->entries_.push_back(*std::move(entry));
  }
  const Status arranged = Arrange(zip->entries_, directory->range.begin);
  if (!arranged) return arranged.error();
  return zip;
}

const Entry* ZipReader::Find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const Entry* ZipReader::At(std::uint64_t offset) const {
  const auto behind = std::upper_bound(
      entries_.begin(), entries_.end(), offset,
      [](std::uint64_t wanted, const Entry& entry) { return wanted < entry.header; });
  if (behind == entries_.begin()) return nullptr;
  const Entry& entry = *std::prev(behind);
  return offset < entry.limit ? &entry : nullptr;
}

Result<Range> ZipReader::RangeOf(const Entry& entry) const {
  const Result<std::string> bytes = ReadExactly(*file_, entry.header, kLocalBytes);
  if (!bytes) return bytes.error();
  ByteReader reader(*bytes);
  if (reader.Fixed32() != kLocalSignature) {
    return Bad(fmt::format("{}: does not begin where the ZIP file says", entry.name));
  }
  reader.Bytes(kLocalBytes - 4 - 4);
  const std::uint64_t name_bytes = Fixed16(reader);
  const std::uint64_t begin = entry.header + kLocalBytes + name_bytes + Fixed16(reader);
  if (begin > entry.limit || entry.limit - begin < entry.packed_bytes) {
    return Bad(fmt::format("{}: lies across another part of the ZIP file", entry.name));
  }
  return Range{begin, begin + entry.packed_bytes};
}

Result<std::unique_ptr<io::ReadableFile>> ZipReader::OpenStored(const Entry& entry) const {
  if (entry.method != Method::kStored || entry.is_encrypted) {
    return Error{ErrorCode::kInvalid, fmt::format("{}: is not stored as it is", entry.name)};
  }
  const Result<Range> range = RangeOf(entry);
  if (!range) return range.error();
  return std::unique_ptr<io::ReadableFile>(std::make_unique<SliceFile>(file_, *range));
}

Result<std::unique_ptr<io::Source>> ZipReader::OpenContent(const Entry& entry) const {
  if (entry.method == Method::kOther || entry.is_encrypted) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("{}: is encrypted, or packed in a way that we cannot read", entry.name)};
  }
  const Result<Range> range = RangeOf(entry);
  if (!range) return range.error();
  std::unique_ptr<io::Source> source =
      std::make_unique<io::FileSource>(std::make_unique<SliceFile>(file_, *range));
  if (entry.method == Method::kDeflated) {
    source = std::make_unique<InflatingSource>(std::move(source));
  }
  return std::unique_ptr<io::Source>(std::make_unique<CheckedSource>(std::move(source), entry));
}

Result<std::string> ZipReader::ReadContent(const Entry& entry, std::size_t bytes_max) const {
  if (entry.bytes > bytes_max) {
    return Error{ErrorCode::kFull, fmt::format("{}: has {} bytes, and at most {} are read",
                                               entry.name, entry.bytes, bytes_max)};
  }
  Result<std::unique_ptr<io::Source>> source = OpenContent(entry);
  if (!source) return source.error();
  std::string content;
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const Result<std::size_t> read = (*source)->Read(piece);
    if (!read) return read.error();
    if (*read == 0) return content;
    content.append(piece, 0, *read);
  }
}

}  // namespace stele::zip
