#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/html/encoding.h"
#include "formats/html/link.h"
#include "formats/html/text_decoder.h"

namespace stele::html {

// Which base URL a reference is relative to: 0 is the document's own. See LinkCollector::AddBase.
using BaseId = std::uint32_t;

// A part of a document that an extractor reads: all of it, a <style> element, an attribute.
struct LinkSource {
  std::string_view bytes{};
  BaseId base = 0;
  std::size_t offset = 0;  // where `bytes` begin in the document
  bool verbatim = true;    // bytes stand in the document as they are; else all is at `offset`
  bool utf8 = false;       // bytes were decoded to UTF-8; else they are in the document's encoding
  int nesting = 0;         // documents around this one

  std::size_t OffsetOf(std::size_t at) const { return verbatim ? offset + at : offset; }
};

// A reference as an extractor finds it.
struct FoundLink {
  std::string_view href{};
  Hop hop = Hop::kNavigation;
  std::string_view context{};  // a literal
  std::size_t offset = 0;
  BaseId base = 0;
  bool utf8 = false;  // as in LinkSource
  bool nofollow = false;
};

// Gathers the references of one document, each distinct one once per hop kind, and resolves them
// when all is known: a late <base> holds for the links before it. Every extractor has the shape
//
//   void Extract...Links(const LinkSource& source, LinkCollector& links);
//
// and accepts every input. Not thread-safe. `document` and the limits must outlive the collector;
// other bytes are copied. Memory: links_max references of url_bytes_max bytes at most.
class LinkCollector {
 public:
  // `url` is the absolute URL of the document. `declared` is its encoding if it says so; the
  // collector guesses it from `document` when the first reference beyond ASCII comes.
  LinkCollector(std::string_view document, std::string_view url, std::optional<Encoding> declared,
                const LinkLimits& limits);
  ~LinkCollector();
  LinkCollector(const LinkCollector&) = delete;
  LinkCollector& operator=(const LinkCollector&) = delete;

  const LinkLimits& limits() const { return limits_; }

  // A base for a part of the document; the same as `parent` until SetBase. Past a bound of some
  // hundred, `parent` itself is returned.
  BaseId AddBase(BaseId parent);
  // `href` is relative to the base's parent, that of base 0 to the document's URL. Only the first
  // call for each base counts. `utf8` as in LinkSource.
  void SetBase(BaseId base, std::string_view href, bool utf8);

  // What is kSpeculative may be relative to this URL, too; nothing where it is empty.
  void SetGuessBase(std::string_view url) { guess_base_ = url; }

  // White space around the reference, its fragment, and references to the document itself or to
  // schemes that no crawler fetches (data:, javascript:, mailto: and so on) are dropped here.
  void Add(const FoundLink& found);

  void SetNofollow() { nofollow_ = true; }
  void SetNoindex() { noindex_ = true; }

  // Resolves and hands out the links in the order they were found. Requires: not yet called.
  LinkSummary Finish(const LinkSink& sink);

 private:
  struct Entry;
  struct Base;
  class Resolved;

  std::string_view Keep(std::string_view bytes);
  void Insert(std::string_view href, const FoundLink& found, std::uint64_t hash);
  void Grow();
  std::string_view ToUtf8(std::string_view href, bool utf8, std::string& buffer);
  void ResolveBases();

  std::string_view document_;
  std::string url_;
  std::string guess_base_;
  std::optional<Encoding> encoding_;
  std::optional<TextDecoder> decoder_;  // made when first needed
  const LinkLimits& limits_;
  std::vector<Base> bases_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // open addressing: index of an entry plus one, 0 is free
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_free_ = 0;
  char* chunk_at_ = nullptr;
  std::size_t speculative_ = 0;
  std::size_t left_out_ = 0;
  std::size_t too_long_ = 0;
  bool nofollow_ = false;
  bool noindex_ = false;
};

}  // namespace stele::html
