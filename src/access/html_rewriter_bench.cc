#include <benchmark/benchmark.h>

#include <string>

#include "access/css_rewriter.h"
#include "access/html_rewriter.h"
#include "access/script_rewriter.h"

// Speed of rewriting a page with a link in each of its short paragraphs.
namespace stele::access {
namespace {

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

void RewritePage(benchmark::State& state) {
  const std::string page = MadeUpPage();
  std::string out;
  for (auto _ : state) {
    UrlRewriter urls("/web/20140126200624", "http://example.org/dir/page");
    HtmlRewriter rewriter(urls, "");
    out.clear();
    for (std::size_t at = 0; at < page.size(); at += 64 << 10) {
      rewriter.Feed(std::string_view(page).substr(at, 64 << 10), out);
    }
    rewriter.Finish(out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * page.size()));
}
BENCHMARK(RewritePage);

void RewriteSheet(benchmark::State& state) {
  std::string css;
  for (int i = 0; i < 2000; ++i) {
    css +=
        ".item" + std::to_string(i) + " { color: #123; background: url(/img/x.png) no-repeat; }\n";
  }
  const UrlRewriter urls("/web/20140126200624", "http://example.org/dir/page");
  for (auto _ : state) benchmark::DoNotOptimize(RewriteCss(css, urls));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * css.size()));
}
BENCHMARK(RewriteSheet);

void RewriteProgram(benchmark::State& state) {
  std::string script;
  for (int i = 0; i < 2000; ++i) {
    script += "function f" + std::to_string(i) +
              "(a,b){var c=a.list[b]/2;return c?\"http://example.org/item.js\":g(c,'label')}\n";
  }
  const UrlRewriter urls("/web/20140126200624", "http://example.org/dir/page");
  for (auto _ : state) benchmark::DoNotOptimize(RewriteScript(script, urls));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * script.size()));
}
BENCHMARK(RewriteProgram);

}  // namespace
}  // namespace stele::access
