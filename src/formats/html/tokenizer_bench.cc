#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "formats/html/tokenizer.h"
#include "util/ascii.h"

// Speed of the tokenizer on real pages: STELE_HTML_BENCH names a file of page versions (lines
// "path TAB time TAB size", each followed by `size` bytes and a line feed), unpacked. Without it,
// on a page made up here.
namespace stele::html {
namespace {

// Looks at what it gets as little as possible.
class Counter final : public TokenSink {
 public:
  void OnStartTag(const Tag& tag) override { count_ += tag.attributes.size(); }
  void OnEndTag(const Tag&) override { ++count_; }
  void OnText(std::string_view text, SourceRange) override { count_ += text.size(); }
  void OnComment(std::string_view, SourceRange) override { ++count_; }
  void OnDoctype(const Doctype&) override { ++count_; }

  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

std::string MadeUpPage() {
  std::string page = "<!DOCTYPE html>\n<html lang=en><head><title>Made up</title></head><body>\n";
  for (int i = 0; i < 2000; ++i) {
    page += "<div class=\"entry\"><a href=\"/item/" + std::to_string(i) +
            "?a=1&amp;b=2\" title='An item'>Item number " + std::to_string(i) +
            "</a>\n<p>Some words about it &mdash; not many, but as many as a sentence on a page "
            "usually has, and one more.</p><!-- end of entry --></div>\n";
  }
  return page + "<script>if (1 < 2) { run(); }</script></body></html>\n";
}

std::vector<std::string> ReadPages() {
  const char* path = std::getenv("STELE_HTML_BENCH");
  if (path == nullptr) return {MadeUpPage()};
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> pages;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string_view> fields = Split(line, '\t');
    if (fields.size() != 3) break;
    const std::optional<std::uint64_t> size = ParseDecimal(fields[2]);
    if (!size) continue;  // a deletion
    std::string page(*size, '\0');
    if (!file.read(page.data(), static_cast<std::streamsize>(*size)) || file.get() != '\n') break;
    pages.push_back(std::move(page));
  }
  if (pages.empty()) pages.push_back(MadeUpPage());
  return pages;
}

// The argument is the size of the pieces that a page is fed in.
void TokenizePages(benchmark::State& state) {
  static const std::vector<std::string> pages = ReadPages();
  const auto piece_bytes = static_cast<std::size_t>(state.range(0));
  std::uint64_t bytes = 0;
  Counter counter;
  for ([[maybe_unused]] auto _ : state) {
    for (const std::string_view page : pages) {
      Tokenizer tokenizer(counter, {});
      for (std::size_t at = 0; at < page.size(); at += piece_bytes) {
        tokenizer.Feed(page.substr(at, piece_bytes));
      }
      tokenizer.Finish();
      bytes += page.size();
    }
  }
  benchmark::DoNotOptimize(counter.count());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(TokenizePages)->Arg(1 << 30)->Arg(16 << 10)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele::html
