#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "formats/html/tokenizer_testing.h"
#include "util/ascii.h"
#include "util/test_paths.h"

// The html5lib tests of tokenizers, each in every initial state it names, fed whole, byte by byte
// and cut in two at every place. Parse errors are not compared: the tokenizer does not report them.
namespace stele::html::testing {
namespace {

using Json = nlohmann::json;

struct Case {
  std::string name;
  std::string input;
  std::string expected;  // as one JSON text
  Start start;
};

std::filesystem::path TestFolder() { return SamplePath("html5lib/tokenizer"); }

// Lone surrogates exist in no UTF-8 input, so such tests cannot be put to us.
bool HasLoneSurrogate(const std::string& doubly_escaped) {
  for (std::size_t at = doubly_escaped.find("\\u"); at != std::string::npos;
       at = doubly_escaped.find("\\u", at + 2)) {
    const std::string digits = AsciiLower(doubly_escaped.substr(at + 2, 2));
    if (digits.size() == 2 && digits[0] == 'd' && digits[1] >= '8') return true;
  }
  return false;
}

// Undoes the second round of \uHHHH.
std::string Unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "\\u") == 0 && i + 6 <= text.size()) {
      out += Json::parse('"' + text.substr(i, 6) + '"').get<std::string>();
      i += 6;
    } else {
      out += text[i++];
    }
  }
  return out;
}

Json Unescape(const Json& value) {
  if (value.is_string()) return Unescape(value.get<std::string>());
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(Unescape(item));
    return out;
  }
  if (value.is_object()) {
    Json out = Json::object();
    for (const auto& [key, item] : value.items()) out[Unescape(key)] = Unescape(item);
    return out;
  }
  return value;
}

Start StartOf(const std::string& state, const Json& test) {
  static const std::map<std::string, TokenizerState> kStates = {
      {"Data state", TokenizerState::kData},
      {"PLAINTEXT state", TokenizerState::kPlaintext},
      {"RCDATA state", TokenizerState::kRcdata},
      {"RAWTEXT state", TokenizerState::kRawtext},
      {"Script data state", TokenizerState::kScriptData},
      {"CDATA section state", TokenizerState::kCdataSection}};
  return {kStates.at(state), test.value("lastStartTag", "")};
}

Json ToJson(const RecordedToken& token) {
  const auto or_null = [](const std::optional<std::string>& text) {
    return text ? Json(*text) : Json(nullptr);
  };
  switch (token.kind) {
    case RecordedToken::Kind::kStartTag: {
      Json attributes = Json::object();
      for (const RecordedAttribute& attribute : token.attributes) {
        attributes[attribute.name] = attribute.value;
      }
      Json tag = {"StartTag", token.text, attributes};
      if (token.self_closing) tag.push_back(true);
      return tag;
    }
    case RecordedToken::Kind::kEndTag:
      return {"EndTag", token.text};
    case RecordedToken::Kind::kText:
      return {"Character", token.text};
    case RecordedToken::Kind::kComment:
      return {"Comment", token.text};
    case RecordedToken::Kind::kDoctype:
      return {"DOCTYPE", or_null(token.name), or_null(token.public_id), or_null(token.system_id),
              !token.force_quirks};
  }
  return nullptr;
}

// A surrogate that stands alone makes the text no UTF-8; 'replace' keeps it comparable.
std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Result(const std::vector<std::string_view>& pieces, const Start& start) {
  const Recorder recorder =
      Tokenize(pieces, start, {.switch_states_by_tag = false, .token_bytes_max = 1 << 20});
  Json tokens = Json::array();
  for (const RecordedToken& token : recorder.tokens()) tokens.push_back(ToJson(token));
  return Dump(tokens);
}

std::vector<Case> ReadCases(const std::filesystem::path& path) {
  std::vector<Case> cases;
  const Json file = Json::parse(std::ifstream(path));
  if (!file.contains("tests")) return cases;
  for (const Json& test : file["tests"]) {
    std::string input = test["input"];
    Json expected = test["output"];
    if (test.value("doubleEscaped", false)) {
      if (HasLoneSurrogate(input) || HasLoneSurrogate(expected.dump())) continue;
      input = Unescape(input);
      expected = Unescape(expected);
    }
    const Json states = test.value("initialStates", Json::array({"Data state"}));
    for (const Json& state : states) {
      cases.push_back({path.filename().string() + ": " + test["description"].get<std::string>() +
                           " in " + state.get<std::string>(),
                       input, Dump(expected), StartOf(state, test)});
    }
  }
  return cases;
}

class Html5lib : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(TestFolder())) {
      GTEST_SKIP() << "no foreign sample data at " << TestFolder();
    }
    for (const auto& entry : std::filesystem::directory_iterator(TestFolder())) {
      // Expects what an XML infoset can hold (no form feed, no "--" in comments), not tokens.
      if (entry.path().filename() == "xmlViolation.test") continue;
      if (entry.path().extension() != ".test") continue;
      for (Case& test : ReadCases(entry.path())) cases_.push_back(std::move(test));
    }
    EXPECT_GT(cases_.size(), 6000u);
  }

  std::vector<Case> cases_;
};

TEST_F(Html5lib, AllCasesPassFedWhole) {
  for (const Case& test : cases_) {
    EXPECT_EQ(Result({test.input}, test.start), test.expected) << test.name;
  }
}

TEST_F(Html5lib, AllCasesPassFedByteByByte) {
  for (const Case& test : cases_) {
    std::vector<std::string_view> pieces;
    for (const char& c : test.input) pieces.emplace_back(&c, 1);
    EXPECT_EQ(Result(pieces, test.start), test.expected) << test.name;
  }
}

TEST_F(Html5lib, AllCasesPassCutAtEveryPlace) {
  for (const Case& test : cases_) {
    const std::string_view input = test.input;
    for (std::size_t cut = 1; cut < input.size(); ++cut) {
      EXPECT_EQ(Result({input.substr(0, cut), input.substr(cut)}, test.start), test.expected)
          << test.name << " cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace stele::html::testing
