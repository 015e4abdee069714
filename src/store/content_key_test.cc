#include "store/content_key.h"

#include <gtest/gtest.h>

namespace stele::store {
namespace {

Signature Sig(std::string_view hex) { return *Signature::Parse(hex); }

TEST(ContentKey, W1_PrintsAndParses) {
  const ContentKey plain{"tomba-1", Sig("ADEE2232AF3A4355"), 0};
  EXPECT_EQ(plain.Text(), "tomba-1:ADEE2232AF3A4355");
  EXPECT_EQ(ContentKey::Parse(plain.Text()), plain);
  const ContentKey overflow{"v_2", Sig("00FF"), 4294967295};
  EXPECT_EQ(overflow.Text(), "v_2:00FF.4294967295");
  EXPECT_EQ(ContentKey::Parse(overflow.Text()), overflow);
}

TEST(ContentKey, W1_ReadsNothingButWhatItWrites) {
  const std::string long_name(65, 'a');
  const std::string long_signature(130, 'A');
  for (const std::string& text : std::vector<std::string>{"",
                                                          ":",
                                                          "v",
                                                          "v:",
                                                          ":AD",
                                                          "v:A",
                                                          "v:ad",
                                                          "v:AD.",
                                                          "v:AD.0",
                                                          "v:AD.01",
                                                          "v:AD.+1",
                                                          "v:AD.4294967296",
                                                          "v:AD.1.1",
                                                          "v:AD ",
                                                          " v:AD",
                                                          "V:AD",
                                                          "v/x:AD",
                                                          "v.x:AD",
                                                          "v:AG",
                                                          "v:AD:1",
                                                          "v::AD",
                                                          "..:AD",
                                                          long_name + ":AD",
                                                          "v:" + long_signature}) {
    EXPECT_FALSE(ContentKey::Parse(text)) << text;
  }
}

TEST(Sig2Location, W2_IsThePapersExample) {
  const Signature signature = Sig("ADEE2232AF3A4355");
  EXPECT_EQ(Sig2Location(signature, 0, 3), "AD/EE/2232AF3A4355");
  EXPECT_EQ(Sig2Location(signature, 0, 1), "ADEE2232AF3A4355");
  EXPECT_EQ(Sig2Location(signature, 0, 8), "AD/EE/22/32/AF/3A/43/55");
  EXPECT_EQ(Sig2Location(signature, 2, 3), "AD/EE/2232AF3A4355.2");
}

TEST(Signature, ModuloIsThatOfTheWholeNumber) {
  EXPECT_EQ(Sig("ADEE2232AF3A4355").Modulo(7), 0xADEE2232AF3A4355u % 7);
  EXPECT_EQ(Sig("ADEE2232AF3A4355").Modulo(1), 0u);
  // 2^128 - 1 is divisible by 255; modulo 2^63 + 1 it is 2: (2^63)^2 = 1, 2^128 = 4, less 1 is 3.
  const Signature ones = Sig(std::string(32, 'F'));
  EXPECT_EQ(ones.Modulo(255), 0u);
  EXPECT_EQ(ones.Modulo((1ull << 63) + 1), 3u);
}

TEST(SignatureFunction, W12_RabinAndSha256KnowTheirValues) {
  const RabinSignatures rabin;
  EXPECT_EQ(rabin.Of("").Hex(), "0000000000000001");
  const Sha256Signatures sha;
  EXPECT_EQ(sha.Of("abc").Hex(),
            "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD");
}

TEST(SignatureFunction, W12_AStreamInPiecesIsTheWhole) {
  const std::string content = "the quick brown fox jumps over the lazy dog";
  for (const char* name : {"rabin64", "sha256"}) {
    const auto function = SignatureFunctionByName(name);
    ASSERT_NE(function, nullptr);
    EXPECT_EQ(function->name(), name);
    const auto stream = function->NewStream();
    for (std::size_t at = 0; at < content.size(); at += 5) stream->Update(content.substr(at, 5));
    const Signature signature = stream->Finish();
    EXPECT_EQ(signature, function->Of(content));
    EXPECT_EQ(signature.bytes().size(), function->size());
  }
  EXPECT_EQ(SignatureFunctionByName("md5"), nullptr);
}

}  // namespace
}  // namespace stele::store
