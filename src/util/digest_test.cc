#include "util/digest.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

TEST(Digest, OfTheEmptyContentIsTheKnownOne) {
  EXPECT_EQ(DigestOf(DigestAlgorithm::kSha1, "").Labelled(),
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  EXPECT_EQ(DigestOf(DigestAlgorithm::kMd5, "").Labelled(), "md5:d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(DigestOf(DigestAlgorithm::kSha256, "").Labelled(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, EveryTextFormOfOneValueIsEqual) {
  const Digest sha1 = DigestOf(DigestAlgorithm::kSha1, "");
  for (const char* text :
       {"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
        "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk="}) {
    EXPECT_EQ(Digest::Parse(text), sha1) << text;
  }
  // 32 digits of md5 are hexadecimal; with padding they are base32.
  EXPECT_EQ(Digest::Parse("md5:d41d8cd98f00b204e9800998ecf8427e"),
            Digest::Parse("md5:2QOYZWMPACZAJ2MABGMOZ6CCPY======"));
}

TEST(Digest, UnknownAlgorithmsAndLengthsGiveNothing) {
  for (const char* text : {"", "sha1", "sha1:", "sha1:ABC", "crc32:00000000",
                           "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY1"}) {
    EXPECT_EQ(Digest::Parse(text), std::nullopt) << text;
  }
}

TEST(Hasher, PiecesGiveTheSameAsTheWholeAndTheHasherCanBeUsedAgain) {
  for (const DigestAlgorithm algorithm : {DigestAlgorithm::kMd5, DigestAlgorithm::kSha1,
                                          DigestAlgorithm::kSha256, DigestAlgorithm::kSha512}) {
    Hasher hasher(algorithm);
    for (int round = 0; round < 2; ++round) {
      hasher.Update("web ");
      hasher.Update("");
      hasher.Update("archive");
      EXPECT_EQ(hasher.Finish(), DigestOf(algorithm, "web archive"));
    }
  }
}

}  // namespace
}  // namespace stele
