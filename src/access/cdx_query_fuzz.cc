#include <cstddef>
#include <cstdint>

#include "access/cdx_query.h"
#include "access/regex_filter.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::access;  // NOLINT: a fuzzer
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Parameters parameters = Parameters::Parse(input);
  for (const CdxDialect dialect : {CdxDialect::kInternetArchive, CdxDialect::kPywb}) {
    const auto query = ParseCdxQuery(parameters, dialect);
    if (!query) continue;
    Check(!query->url.empty());
    static_cast<void>(query->Selected());
    for (const CdxFilter& filter : query->filters) {
      auto regex = RegexFilter::Make(filter.text, RegexFilter::Anchor::kBegin);
      if (regex) static_cast<void>((*regex)->Matches("http://example.org/aaaaaaaaaaaaaaaaaaaa"));
    }
  }
  return 0;
}
