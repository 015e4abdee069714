#include "store/directory.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stele::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Signature Sig(std::string_view content) { return RabinSignatures().Of(content); }

std::unique_ptr<Directory> NewDirectory() {
  auto directory = Directory::Open(std::make_unique<MemoryBlockTable>(), "v1", false);
  EXPECT_TRUE(directory) << directory.error().text;
  return *std::move(directory);
}

TEST(Directory, W11_StubsSayWhereContentsMayLie) {
  const auto directory = NewDirectory();
  EXPECT_THAT(*directory->Holders(Sig("a")), IsEmpty());
  const Signature both[] = {Sig("a"), Sig("b")};
  ASSERT_TRUE(directory->AddStubs(both, "v3"));
  ASSERT_TRUE(directory->AddStubs(std::span(both).first(1), "v2"));
  ASSERT_TRUE(directory->AddStubs(std::span(both).first(1), "v2"));
  EXPECT_THAT(*directory->Holders(Sig("a")), ElementsAre("v2", "v3"));
  EXPECT_THAT(*directory->Holders(Sig("b")), ElementsAre("v3"));
  EXPECT_THAT(*directory->Holders(Sig("c")), IsEmpty());
}

TEST(Directory, W11_SignaturesOfDifferentLengthsAreDifferent) {
  const auto directory = NewDirectory();
  const Signature longer[] = {Signature("abv")};
  ASSERT_TRUE(directory->AddStubs(longer, "2"));
  EXPECT_THAT(*directory->Holders(Signature("ab")), IsEmpty());
}

TEST(Directory, W9_MovesAreKnownAtBothEnds) {
  const auto directory = NewDirectory();
  const ContentKey old_key{"v0", Sig("a"), 0};
  const ContentKey new_key{"v1", Sig("a"), 3};
  const ContentKey gone{"v1", Sig("b"), 1};
  const ContentKey away{"v2", Sig("b"), 0};
  ASSERT_TRUE(directory->AddMove(old_key, new_key));
  ASSERT_TRUE(directory->AddMove(gone, away));
  EXPECT_EQ(*directory->MovedTo(old_key), new_key);
  EXPECT_EQ(*directory->MovedTo(gone), away);
  EXPECT_EQ(*directory->MovedTo(new_key), std::nullopt);
  const auto moves = directory->MovesOf("v1", Sig("b"));
  ASSERT_EQ(moves->size(), 1u);
  EXPECT_EQ(moves->front().from, gone);
  const auto arrivals = directory->Arrivals(std::nullopt, 10);
  ASSERT_EQ(arrivals->size(), 1u);
  EXPECT_EQ(arrivals->front().to, new_key);
  EXPECT_EQ(arrivals->front().from, old_key);
  EXPECT_THAT(*directory->Arrivals(arrivals->front(), 10), IsEmpty());
}

TEST(Directory, W11_WhatIsOwedIsListedUntilItIsForgotten) {
  const auto directory = NewDirectory();
  for (const char* content : {"\x01", "\x02", "\x03"}) {
    ASSERT_TRUE(directory->Owe(Signature(content)));
  }
  EXPECT_THAT(*directory->Owed(std::nullopt, 2), ElementsAre(Signature("\x01"), Signature("\x02")));
  EXPECT_THAT(*directory->Owed(Signature("\x02"), 2), ElementsAre(Signature("\x03")));
  const Signature paid[] = {Signature("\x01"), Signature("\x03")};
  ASSERT_TRUE(directory->Forget(paid));
  EXPECT_THAT(*directory->Owed(std::nullopt, 9), ElementsAre(Signature("\x02")));
}

class DurableTable : public testing::Test {
 protected:
  DurableTable() {
    std::string pattern = testing::TempDir() + "stele-directory-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~DurableTable() override { std::filesystem::remove_all(root_); }

  Result<std::unique_ptr<Directory>> Open(bool must_exist) {
    Result<std::unique_ptr<BlockTable>> table = OpenDurableRocksTable(root_ + "/t");
    if (!table) return table.error();
    return Directory::Open(*std::move(table), "v1", must_exist);
  }

  void AddStubs(int count) {
    const auto directory = Open(false);
    for (int i = 0; i < count; ++i) {
      const Signature signature[] = {Sig(std::to_string(i))};
      ASSERT_TRUE((*directory)->AddStubs(signature, "v2"));
    }
  }
  // In RocksDB's log; a negative offset counts from its end.
  void FlipBit(int offset) {
    std::string log;
    for (const auto& entry : std::filesystem::directory_iterator(root_ + "/t")) {
      if (entry.path().extension() == ".log") log = entry.path();
    }
    ASSERT_FALSE(log.empty());
    if (offset < 0) offset += static_cast<int>(std::filesystem::file_size(log));
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const int byte = file.get();
    file.seekp(offset);
    file.put(static_cast<char>(byte ^ 1));
  }

  std::string root_;
};

TEST_F(DurableTable, W11_KeepsWhatWasWritten) {
  const Signature signatures[] = {Sig("a"), Sig("b")};
  {
    const auto directory = Open(false);
    ASSERT_TRUE(directory) << directory.error().text;
    EXPECT_EQ(Open(false).error().code, ErrorCode::kBusy);
    ASSERT_TRUE((*directory)->AddStubs(signatures, "v2"));
    ASSERT_TRUE((*directory)->AddMove({"v1", Sig("a"), 0}, {"v2", Sig("a"), 0}));
  }
  const auto again = Open(true);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_THAT(*(*again)->Holders(Sig("b")), ElementsAre("v2"));
  EXPECT_TRUE((*again)->MovedTo({"v1", Sig("a"), 0})->has_value());
}

// Every byte of the log counts: a flip in what was acknowledged is an error, not an empty table.
TEST_F(DurableTable, W11_DamageIsNoticed) {
  AddStubs(50);
  FlipBit(300);
  EXPECT_EQ(Open(true).error().code, ErrorCode::kCorrupt);
}

// As after a power failure before the last write was acknowledged.
TEST_F(DurableTable, W11_DamageAtTheEndOfTheLogCostsTheLastWriteOnly) {
  AddStubs(50);
  FlipBit(-3);
  const auto directory = Open(true);
  ASSERT_TRUE(directory) << directory.error().text;
  for (int i = 0; i < 49; ++i) {
    EXPECT_THAT(*(*directory)->Holders(Sig(std::to_string(i))), ElementsAre("v2"));
  }
  EXPECT_THAT(*(*directory)->Holders(Sig("49")), IsEmpty());
}

// Of writes that are larger than a block of the log, any fragment may be damaged.
TEST_F(DurableTable, W11_DamageInALargeWriteIsAtTheEndOnlyWhenNoOtherFollows) {
  for (const bool another : {false, true}) {
    SCOPED_TRACE(another);
    std::filesystem::remove_all(root_ + "/t");
    AddStubs(5);
    std::vector<Signature> many;
    for (int i = 100; i < 5100; ++i) many.push_back(Sig(std::to_string(i)));
    {
      const auto directory = Open(true);
      ASSERT_TRUE((*directory)->AddStubs(many, "v2"));
      if (another) {
        ASSERT_TRUE((*directory)->AddStubs(std::span(many).first(1), "v3"));
      }
    }
    FlipBit(40'000);
    const auto directory = Open(true);
    ASSERT_EQ(directory.ok(), !another);
    if (another) continue;
    EXPECT_THAT(*(*directory)->Holders(Sig("4")), ElementsAre("v2"));
    EXPECT_THAT(*(*directory)->Holders(Sig("100")), IsEmpty());
  }
}

TEST_F(DurableTable, W11_ALostDirectoryIsNoticed) {
  EXPECT_EQ(Open(true).error().code, ErrorCode::kCorrupt);
  ASSERT_TRUE(Open(false));
  ASSERT_TRUE(Open(true));
  Result<std::unique_ptr<BlockTable>> table = OpenDurableRocksTable(root_ + "/t");
  ASSERT_TRUE(table);
  EXPECT_EQ(Directory::Open(*std::move(table), "v2", false).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stele::store
