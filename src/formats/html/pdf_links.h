#pragma once

#include "formats/html/link_collector.h"

namespace stele::html {

// A PDF file: the /URI of link annotations, as literal or hexadecimal strings, in the file itself
// and in its compressed object streams (FlateDecode), all kNavigation in context "pdf/URI". Object
// tables are not trusted: the file is read from front to back, so that truncated and damaged files
// give what they hold. At most limits().inflated_bytes_max bytes are inflated. Nothing is taken
// from encrypted files, whose strings are ciphertext.
void ExtractPdfLinks(const LinkSource& source, LinkCollector& links);

}  // namespace stele::html
