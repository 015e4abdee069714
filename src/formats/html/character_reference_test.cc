#include "formats/html/character_reference.h"

#include <gtest/gtest.h>

namespace stele::html {
namespace {

using Outcome = ReferenceMatch::Outcome;

ReferenceMatch Match(std::string_view source, ReferencePlace place = ReferencePlace::kText) {
  return MatchReference(source, place, true);
}

TEST(CharacterReference, DecodesNamesToUtf8) {
  EXPECT_EQ(Match("&amp; b").text(), "&");
  EXPECT_EQ(Match("&amp; b").length, 5u);
  EXPECT_EQ(Match("&euro;").text(), "\xE2\x82\xAC");
  EXPECT_EQ(Match("&Afr;").text(), "\xF0\x9D\x94\x84");
  EXPECT_EQ(Match("&nGt;").text(), "\xE2\x89\xAB\xE2\x83\x92");  // two code points
  EXPECT_EQ(Match("&CounterClockwiseContourIntegral;").text(), "\xE2\x88\xB3");
}

TEST(CharacterReference, NamesAreCaseSensitive) {
  EXPECT_EQ(Match("&Auml;").text(), "\xC3\x84");
  EXPECT_EQ(Match("&auml;").text(), "\xC3\xA4");
  EXPECT_EQ(Match("&aUML;").outcome, Outcome::kNone);
}

TEST(CharacterReference, TheLongestNameWins) {
  EXPECT_EQ(Match("&notin;").text(), "\xE2\x88\x89");
  EXPECT_EQ(Match("&notit;").text(), "\xC2\xAC");
  EXPECT_EQ(Match("&notit;").length, 4u);
  EXPECT_EQ(Match("&ampere").length, 4u);
}

TEST(CharacterReference, OnlyOldNamesGoWithoutSemicolon) {
  EXPECT_EQ(Match("&copy 1").text(), "\xC2\xA9");
  EXPECT_EQ(Match("&euro 1").outcome, Outcome::kNone);
  EXPECT_EQ(Match("& 1").outcome, Outcome::kNone);
  EXPECT_EQ(Match("&").outcome, Outcome::kNone);
  EXPECT_EQ(Match("&;").outcome, Outcome::kNone);
}

TEST(CharacterReference, InAttributesAQueryArgumentIsNoReference) {
  EXPECT_EQ(Match("&copy=2", ReferencePlace::kAttribute).outcome, Outcome::kNone);
  EXPECT_EQ(Match("&copyright=2", ReferencePlace::kAttribute).outcome, Outcome::kNone);
  EXPECT_EQ(Match("&copy", ReferencePlace::kAttribute).text(), "\xC2\xA9");
  EXPECT_EQ(Match("&copy;=2", ReferencePlace::kAttribute).text(), "\xC2\xA9");
  EXPECT_EQ(Match("&copy&", ReferencePlace::kAttribute).text(), "\xC2\xA9");
}

TEST(CharacterReference, DecodesNumbersOfBothBases) {
  EXPECT_EQ(Match("&#65;").text(), "A");
  EXPECT_EQ(Match("&#x41;").text(), "A");
  EXPECT_EQ(Match("&#X41g").length, 5u);
  EXPECT_EQ(Match("&#65a").length, 4u);
  EXPECT_EQ(Match("&#x10FFFF;").text(), "\xF4\x8F\xBF\xBF");
  EXPECT_EQ(Match("&#;").outcome, Outcome::kNone);
  EXPECT_EQ(Match("&#x;").outcome, Outcome::kNone);
}

TEST(CharacterReference, NumbersThatNameNoCharacterBecomeTheReplacement) {
  for (const char* source : {"&#0;", "&#xD800;", "&#xDFFF;", "&#x110000;", "&#99999999999999;"}) {
    EXPECT_EQ(Match(source).text(), "\xEF\xBF\xBD") << source;
  }
}

TEST(CharacterReference, Numbers128To159MeanWindows1252) {
  EXPECT_EQ(Match("&#128;").text(), "\xE2\x82\xAC");
  EXPECT_EQ(Match("&#x9F;").text(), "\xC5\xB8");
  EXPECT_EQ(Match("&#x81;").text(), "\xC2\x81");
}

TEST(CharacterReference, AsksForMoreWhileANameOrNumberMayGoOn) {
  for (const char* source : {"&", "&n", "&not", "&amp", "&#", "&#x", "&#1", "&#x1F"}) {
    EXPECT_EQ(MatchReference(source, ReferencePlace::kText, false).outcome, Outcome::kMore)
        << source;
  }
  for (const char* source : {"& ", "&amp;", "&#1;", "&#xg", "&zzz"}) {
    EXPECT_NE(MatchReference(source, ReferencePlace::kText, false).outcome, Outcome::kMore)
        << source;
  }
}

TEST(CharacterReference, AShortenedNumberDecodesLikeTheLongOne) {
  const std::string zeros(1000, '0');
  const std::string nines(1000, '9');
  for (const std::string& source :
       {"&#" + zeros, "&#" + zeros + "6", "&#x" + zeros + "4", "&#" + nines, "&#x" + nines,
        std::string("&#x10FFFF"), std::string("&#")}) {
    std::string shorter = source;
    ShortenNumericReference(shorter);
    EXPECT_LT(shorter.size(), 16u);
    for (const char* more : {"5;", "1;", ";", ""}) {
      EXPECT_EQ(Match(shorter + more).text(), Match(source + more).text()) << shorter << more;
    }
  }
}

}  // namespace
}  // namespace stele::html
