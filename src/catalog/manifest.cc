#include "catalog/manifest.h"

#include <fmt/format.h>

#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::catalog {
namespace {

constexpr std::string_view kHead = "STELE-CATALOG 3\nsum ";

Error Corrupt() { return {ErrorCode::kCorrupt, "the manifest of a catalog cannot be understood"}; }

// The decimal numbers behind the first word; false when there are more or fewer, or they are none.
bool Numbers(const std::vector<std::string_view>& words, std::initializer_list<std::uint64_t*> to) {
  if (words.size() != to.size() + 1) return false;
  std::size_t i = 1;
  for (std::uint64_t* number : to) {
    const auto value = ParseDecimal(words[i++]);
    if (!value) return false;
    *number = *value;
  }
  return true;
}

bool ParseLine(std::string_view line, Manifest& manifest) {
  const std::vector<std::string_view> words = Split(line, ' ');
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  if (words[0] == "next-file") return Numbers(words, {&manifest.next_file});
  if (words[0] == "first-log") return Numbers(words, {&manifest.first_log});
  if (words[0] == "run" && Numbers(words, {&a, &b}) && b <= 0xFFFF'FFFF) {
    manifest.runs.push_back({a, static_cast<std::uint32_t>(b)});
    return true;
  }
  if (words[0] == "segment" && Numbers(words, {&a, &b, &c}) && (a | c) <= 0xFFFF'FFFF) {
    manifest.segments.push_back({static_cast<std::uint32_t>(a), b, static_cast<std::uint32_t>(c)});
    return true;
  }
  if (words[0] == "pisa" && Numbers(words, {&a})) {
    manifest.pisa.push_back(a);
    return true;
  }
  if (words[0] == "loose" && Numbers(words, {&a})) {
    manifest.loose.push_back(a);
    return true;
  }
  if (words[0] == "dropped" && Numbers(words, {&a, &b}) && a <= 0xFFFF'FFFF) {
    manifest.dropped.push_back({static_cast<std::uint32_t>(a), b});
    return true;
  }
  return false;
}

}  // namespace

std::string FormatManifest(const Manifest& manifest) {
  std::string lines =
      fmt::format("next-file {}\nfirst-log {}\n", manifest.next_file, manifest.first_log);
  for (const Manifest::Run& run : manifest.runs) {
    lines += fmt::format("run {} {}\n", run.number, run.level);
  }
  for (const Manifest::Segment& segment : manifest.segments) {
    lines += fmt::format("segment {} {} {}\n", segment.batch, segment.number, segment.level);
  }
  for (const std::uint64_t number : manifest.pisa) lines += fmt::format("pisa {}\n", number);
  for (const std::uint64_t number : manifest.loose) lines += fmt::format("loose {}\n", number);
  for (const Manifest::Dropped& dropped : manifest.dropped) {
    lines += fmt::format("dropped {} {}\n", dropped.batch, dropped.before);
  }
  return fmt::format("{}{:016x}\n{}", kHead, ChecksumOf(lines), lines);
}

Result<Manifest> ParseManifest(std::string_view text) {
  constexpr std::size_t kHeadSize = kHead.size() + 16 + 1;
  const std::string_view line = kHead.substr(0, kHead.find('\n') + 1);
  if (text.starts_with(line.substr(0, line.find(' ') + 1)) && !text.starts_with(line)) {
    return Error{ErrorCode::kCorrupt, "another version of Stele made this catalog"};
  }
  if (text.size() < kHeadSize || !text.ends_with('\n')) return Corrupt();
  Manifest manifest;
  std::string_view lines = text.substr(kHeadSize);
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    if (!ParseLine(lines.substr(0, end), manifest)) return Corrupt();
    lines.remove_prefix(end + 1);
  }
  // What is read must be what is written: the checksum, the order of lines, how numbers look.
  if (FormatManifest(manifest) != text) return Corrupt();
  return manifest;
}

std::string ManifestPath(const std::string& directory) { return directory + "/manifest"; }

std::string LogPath(const std::string& directory, std::uint64_t number) {
  return fmt::format("{}/{:08}.log", directory, number);
}

std::string RunDirectory(const std::string& directory) { return directory + "/location"; }

std::string RunPath(const std::string& directory, std::uint64_t number) {
  return fmt::format("{}/{:08}.run", RunDirectory(directory), number);
}

std::string PisaPath(const std::string& directory, std::uint64_t number) {
  return fmt::format("{}/{:08}.pisa", RunDirectory(directory), number);
}

std::string CaptureDirectory(const std::string& directory) { return directory + "/captures"; }

std::string BatchDirectory(const std::string& directory, std::uint32_t batch) {
  return fmt::format("{}/{:06}", CaptureDirectory(directory), batch);
}

std::string SegmentPath(const std::string& directory, std::uint32_t batch, std::uint64_t number) {
  return fmt::format("{}/{:08}.rows", BatchDirectory(directory, batch), number);
}

}  // namespace stele::catalog
