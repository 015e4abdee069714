#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/html/tokenizer_testing.h"
#include "formats/html/tokenizer_twin.h"
#include "util/check.h"

// The first byte chooses state, limit and switching, the second how the rest is cut into pieces.
namespace stele::html::testing {
namespace {

const Start kStarts[] = {
    {TokenizerState::kData, ""},           {TokenizerState::kRcdata, "title"},
    {TokenizerState::kRawtext, "style"},   {TokenizerState::kScriptData, "script"},
    {TokenizerState::kPlaintext, ""},      {TokenizerState::kCdataSection, ""},
    {TokenizerState::kScriptData, "math"}, {TokenizerState::kRcdata, ""},
};

std::vector<std::string_view> Cut(std::string_view input, std::uint8_t seed) {
  std::vector<std::string_view> pieces;
  std::uint32_t state = seed;
  while (!input.empty()) {
    state = state * 1664525 + 1013904223;
    const std::size_t bytes = seed == 0 ? 1 : (state >> 24) % 24;
    pieces.push_back(input.substr(0, bytes));
    input.remove_prefix(pieces.back().size());
  }
  return pieces;
}

bool Holds(SourceRange outer, SourceRange inner) {
  return outer.begin <= inner.begin && inner.begin <= inner.end && inner.end <= outer.end;
}

void CheckRanges(std::string_view input, const Recorder& recorder) {
  std::uint64_t end = 0;
  for (const RecordedToken& token : recorder.tokens()) {
    Check(Holds({end, input.size()}, token.at));
    Check(token.at.begin < token.at.end);
    end = token.at.end;
    if (token.kind == RecordedToken::Kind::kText) continue;
    Check(input[token.at.begin] == '<');
    std::uint64_t attribute_end = token.at.begin + 1;
    for (const RecordedAttribute& attribute : token.attributes) {
      Check(Holds({attribute_end, token.at.end}, attribute.name_at));
      Check(attribute.name_at.begin < attribute.name_at.end);
      Check(Holds({attribute.name_at.end, token.at.end}, attribute.value_at));
      attribute_end = attribute.value_at.end;
    }
    const bool is_tag =
        token.kind == RecordedToken::Kind::kStartTag || token.kind == RecordedToken::Kind::kEndTag;
    if (is_tag) Check(input[token.at.end - 1] == '>');
  }
  end = 0;
  for (const auto& [text, at] : recorder.pieces()) {
    Check(Holds({end, input.size()}, at));
    Check(at.begin < at.end);
    end = at.end;
    const std::string_view source = input.substr(at.begin, at.end - at.begin);
    const bool may_be_replaced = source[0] == '&' || source[0] == '\r' || source[0] == '\0';
    Check(text == source || may_be_replaced);
  }
}

std::vector<RecordedToken> WithoutRanges(std::vector<RecordedToken> tokens) {
  for (RecordedToken& token : tokens) {
    token.at = {};
    for (RecordedAttribute& attribute : token.attributes) {
      attribute.name_at = attribute.value_at = {};
    }
  }
  return tokens;
}

void TestOneInput(std::string_view input) {
  if (input.size() < 2) return;
  const auto choice = static_cast<std::uint8_t>(input[0]);
  const auto seed = static_cast<std::uint8_t>(input[1]);
  input.remove_prefix(2);
  const Start& start = kStarts[choice % 8];
  const bool is_limited = (choice & 8) != 0;
  const Tokenizer::Options options{.switch_states_by_tag = (choice & 16) != 0,
                                   .token_bytes_max = is_limited ? std::size_t{16} : 1 << 20};
  const Recorder whole = Tokenize({input}, start, options);
  CheckRanges(input, whole);
  const Recorder in_pieces = Tokenize(Cut(input, seed), start, options);
  CheckRanges(input, in_pieces);
  Check(whole.tokens() == in_pieces.tokens());
  if (!is_limited && !options.switch_states_by_tag) {
    Check(WithoutRanges(whole.tokens()) == TokenizeSlowly(input, start));
  }
}

}  // namespace
}  // namespace stele::html::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stele::html::testing::TestOneInput({reinterpret_cast<const char*>(data), size});
  return 0;
}
