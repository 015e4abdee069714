#pragma once

#include <string>
#include <vector>

#include "catalog/selection.h"
#include "cli/command.h"
#include "util/result.h"

// Which URLs a person means.
namespace stele::cli {

// --prefix, --host and --domain.
std::vector<Option> WithUrlOptions(std::vector<Option> options);

// The same, with whole URLs in place of paths such as /news/ among the words and behind --prefix.
// The host is the one where the crawls of the archive begin; of an archive without crawls, the only
// one that has pages. Only reads. Errors: kInvalid where there is no such host, or there are
// several; those of the archive.
Result<Arguments> WithWholeUrls(Arguments arguments, Context& context);

// All of these URLs, and of what the options say; everything where nothing is said. By the keys of
// the URLs themselves. Errors: kInvalid for what is no URL, and can have no captures.
Result<catalog::Selection> UrlsOf(const Arguments& arguments, const std::vector<std::string>& urls);

// One selection of what any of several means.
catalog::Selection Union(std::vector<catalog::KeyRange> ranges);

}  // namespace stele::cli
