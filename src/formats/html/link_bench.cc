#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/html/charset.h"
#include "formats/html/extract_links.h"
#include "formats/html/text.h"
#include "util/ascii.h"

// Speed of link and text extraction on real pages: STELE_HTML_BENCH names a file of page versions
// (lines "path TAB time TAB size", each followed by `size` bytes and a line feed), unpacked.
// Without it, on a page made up here.
namespace stele::html {
namespace {

struct Page {
  std::string url;
  std::string content;
};

Page MadeUpPage() {
  std::string page =
      "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>Made up</title>"
      "<link rel=stylesheet href=/style.css><style>body{background:url(bg.png)}</style></head>\n";
  for (int i = 0; i < 1000; ++i) {
    page += "<div class=\"entry\" id=\"e" + std::to_string(i) + "\"><a href=\"/item/" +
            std::to_string(i % 300) +
            "?a=1&amp;b=2\" title='An item'>Item</a> <a href=\"../other.html#n" +
            std::to_string(i) + "\">other</a><img src=\"/img/" + std::to_string(i % 50) +
            ".png\" alt=\"\" width=10>\n<p>Some words about it &mdash; not many, but as many as a "
            "sentence on a page usually has, and one more.</p></div>\n";
  }
  page += "<script>var config = {url: 'https://api.example.org/v1', size: 10, name: 'x'};";
  for (int i = 0; i < 500; ++i) page += "function f" + std::to_string(i) + "(a, b) { return a; }\n";
  return {"http://example.org/dir/page.html", page + "</script></html>\n"};
}

std::vector<Page> ReadPages() {
  const char* path = std::getenv("STELE_HTML_BENCH");
  if (path == nullptr) return {MadeUpPage()};
  std::ifstream file(path, std::ios::binary);
  std::vector<Page> pages;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string_view> fields = Split(line, '\t');
    if (fields.size() != 3) break;
    const std::optional<std::uint64_t> size = ParseDecimal(fields[2]);
    if (!size) continue;  // a deletion
    std::string content(*size, '\0');
    if (!file.read(content.data(), static_cast<std::streamsize>(*size)) || file.get() != '\n')
      break;
    pages.push_back({"http://www.openbsd.org/" + std::string(fields[0]), std::move(content)});
  }
  if (pages.empty()) pages.push_back(MadeUpPage());
  return pages;
}

void Report(benchmark::State& state, const std::vector<Page>& pages, std::size_t found) {
  std::size_t bytes = 0;
  for (const Page& page : pages) bytes += page.content.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.counters["found"] = static_cast<double>(found);
  state.counters["pages"] = static_cast<double>(pages.size());
}

void Links(benchmark::State& state) {
  const std::vector<Page> pages = ReadPages();
  std::size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const Page& page : pages) {
      ExtractLinks({.url = page.url, .content = page.content, .content_type = "text/html"},
                   [&found](Link&& link) { found += link.url.empty() ? 0 : 1; });
    }
  }
  Report(state, pages, found);
}
BENCHMARK(Links)->Unit(benchmark::kMillisecond);

void Text(benchmark::State& state) {
  const std::vector<Page> pages = ReadPages();
  std::size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const Page& page : pages) {
      found += ExtractText(page.content, ChooseEncoding(page.content, "").encoding).text.size();
    }
  }
  Report(state, pages, found);
}
BENCHMARK(Text)->Unit(benchmark::kMillisecond);

void Normalised(benchmark::State& state) {
  const std::vector<Page> pages = ReadPages();
  std::vector<PageText> texts;
  for (const Page& page : pages) texts.push_back(ExtractText(page.content, Encoding::kUtf8));
  std::size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const PageText& text : texts) found += NormalisedText(text).size();
  }
  Report(state, pages, found);
}
BENCHMARK(Normalised)->Unit(benchmark::kMillisecond);

void Charset(benchmark::State& state) {
  const std::vector<Page> pages = ReadPages();
  std::size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const Page& page : pages) {
      found += ChooseEncoding(page.content, "").encoding == Encoding::kUtf8 ? 1 : 0;
    }
  }
  Report(state, pages, found);
}
BENCHMARK(Charset)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele::html
