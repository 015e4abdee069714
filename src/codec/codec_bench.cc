// Inflating and deflating gzip members the size of a web page, by each library at hand.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "codec/buffer.h"
#include "codec/gzip_decoder.h"
#include "codec/gzip_member.h"
#include "codec/test_samples.h"
#include "codec/zstd_codec.h"
#include "util/test_paths.h"

namespace stele::codec {
namespace {

constexpr std::size_t kPageSize = 20000;
constexpr std::size_t kPages = 400;

// Real pages of 10 to 40 KB when the sample data is there, invented ones otherwise.
std::vector<std::string> Pages() {
  std::ifstream file(SamplePath("versions/openbsd-www.versions.zst"), std::ios::binary);
  std::vector<std::string> pages;
  const auto decoder = ZstdCodec().NewDecoder();
  std::string packed(4 << 20, '\0'), text(64 << 20, '\0');
  file.read(packed.data(), static_cast<std::streamsize>(packed.size()));
  const std::string_view in(packed.data(), static_cast<std::size_t>(file.gcount()));
  std::size_t size = 0, used = 0;
  while (size < text.size() && used < in.size()) {
    const Result<Progress> step = decoder->Decode(in.substr(used), std::span(text).subspan(size));
    if (!step || step->consumed + step->produced == 0) break;
    size += step->produced;
    used += step->consumed;
  }
  std::string_view rest(text.data(), size);
  std::size_t turn = 0;
  for (;;) {
    const std::size_t line = rest.find('\n');
    if (line == rest.npos) break;
    const std::size_t tab = rest.substr(0, line).rfind('\t');
    if (tab == rest.npos) break;
    const std::size_t length =
        std::strtoull(std::string(rest.substr(tab + 1, line)).c_str(), nullptr, 10);
    rest.remove_prefix(line + 1);
    if (length + 1 > rest.size()) break;
    if (length > kPageSize / 2 && length < kPageSize * 2 && ++turn % 4 == 0) {
      pages.emplace_back(rest.substr(0, length));
    }
    rest.remove_prefix(length == 0 ? 0 : length + 1);
    if (pages.size() == kPages) break;
  }
  while (pages.size() < kPages) pages.push_back(Markup(kPageSize, pages.size()));
  return pages;
}

struct Data {
  std::vector<std::string> pages = Pages();
  std::vector<std::string> members;
  std::size_t bytes = 0;
  Data() {
    GzipMemberDeflater deflater(6);
    Buffer out;
    for (const std::string& page : pages) {
      deflater.Deflate(page, out);
      members.emplace_back(out.view());
      bytes += page.size();
    }
  }
};

const Data& Sample() {
  static const Data data;
  return data;
}

void Report(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * Sample().bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * Sample().pages.size()));
}

void InflateMember(benchmark::State& state) {
  GzipMemberInflater inflater;
  Buffer out;
  for (auto _ : state) {
    for (const std::string& member : Sample().members) {
      benchmark::DoNotOptimize(inflater.Inflate(member, 1 << 20, out).ok());
    }
  }
  Report(state);
}
BENCHMARK(InflateMember);

void InflateStream(benchmark::State& state) {
  GzipDecoder decoder;
  std::string room(128 << 10, '\0');
  for (auto _ : state) {
    for (const std::string& member : Sample().members) {
      decoder.Reset();
      benchmark::DoNotOptimize(decoder.Decode(member, room)->done);
    }
  }
  Report(state);
}
BENCHMARK(InflateStream);

void InflateZlib(benchmark::State& state) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string room(128 << 10, '\0');
  for (auto _ : state) {
    for (const std::string& member : Sample().members) {
      inflateReset(&stream);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.data()));
      stream.avail_in = static_cast<uInt>(member.size());
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      benchmark::DoNotOptimize(inflate(&stream, Z_FINISH));
    }
  }
  inflateEnd(&stream);
  Report(state);
}
BENCHMARK(InflateZlib);

void DecodeZstd(benchmark::State& state) {
  std::vector<std::string> frames;
  for (const std::string& page : Sample().pages) frames.push_back(*ZstdCodec().Compress(page, 3));
  const auto decoder = ZstdCodec().NewDecoder();
  std::string room(128 << 10, '\0');
  for (auto _ : state) {
    for (const std::string& frame : frames) {
      decoder->Reset();
      benchmark::DoNotOptimize(decoder->Decode(frame, room)->done);
    }
  }
  Report(state);
}
BENCHMARK(DecodeZstd);

void DeflateMember(benchmark::State& state) {
  GzipMemberDeflater deflater(static_cast<int>(state.range(0)));
  Buffer out;
  for (auto _ : state) {
    for (const std::string& page : Sample().pages) deflater.Deflate(page, out);
  }
  Report(state);
}
BENCHMARK(DeflateMember)->Arg(0)->Arg(1)->Arg(6)->Arg(9);

}  // namespace
}  // namespace stele::codec
