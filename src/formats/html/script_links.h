#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// JavaScript: strings between quotes that look like a URL, all kSpeculative, in context "script".
// What relative ones are relative to is the page that runs the script, or what the script makes of
// them: see LinkCollector::SetGuessBase.
void ExtractScriptLinks(const LinkSource& source, LinkCollector& links);

// The judgement on one string, escapes undone. True for http(s)://host.tld..., //host.tld/..., and
// www.host.tld/...; true for paths ("img/a.png", "/b.php?c=1") only with a known file extension and
// without any sign that they are code, markup, a MIME type or a number. Rather misses than invents.
bool LooksLikeUrl(std::string_view text);

}  // namespace stele::html
