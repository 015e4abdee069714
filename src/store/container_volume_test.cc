#include "store/container_volume.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/record/record_reader.h"
#include "formats/warc/warc_grammar.h"
#include "store/container_test_lab.h"

namespace stele::store {
namespace {

TEST(ContainerVolume, W1_GivesBackWhatWasStored) {
  ContainerLab lab;
  const auto volume = lab.Make();
  for (const std::string& content : {std::string(), std::string("a"), std::string("<p>page</p>"),
                                     NoiseOf(300'000, 1), std::string(900'000, 'x')}) {
    const auto stored = StoreContent(*volume, content, std::to_string(content.size()));
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_TRUE(stored->is_new);
    EXPECT_EQ(*ReadContent(*volume, stored->key), content);
    EXPECT_EQ(volume->Stat(stored->key)->size, content.size());
  }
  EXPECT_EQ(volume->Stats()->blocks, 5u);
  EXPECT_EQ(volume->Stats()->content_bytes, 1u + 11 + 300'000 + 900'000);
  EXPECT_TRUE(FindingsOf(*volume).empty());
}

TEST(ContainerVolume, W1_KeepsADuplicateAsAReferenceWithoutItsBytes) {
  ContainerLab lab;
  const auto volume = lab.Make();
  const std::string content = NoiseOf(50'000, 2);
  const auto first = StoreContent(*volume, content, "1");
  ASSERT_TRUE(first);
  const std::uint64_t before = volume->Stats()->stored_bytes;
  const auto found = volume->Reference(RequestFor(volume->signature(), content, "2"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->outcome, Lookup::Outcome::kReferenced);
  EXPECT_EQ(found->key, first->key);
  EXPECT_EQ(volume->Stat(first->key)->references, 2u);
  EXPECT_LT(volume->Stats()->stored_bytes - before, 600u);
  EXPECT_EQ(volume->Reference(RequestFor(volume->signature(), "new", "3"))->outcome,
            Lookup::Outcome::kUnknown);
}

TEST(ContainerVolume, AnOperationThatIsRepeatedCountsOnce) {
  ContainerLab lab;
  auto volume = lab.Make();
  const ContentKey key = StoreContent(*volume, "page", "1")->key;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(StoreContent(*volume, "page", "2")->key, key);
  EXPECT_EQ(StoreContent(*volume, "page", "1")->key, key);
  EXPECT_EQ(volume->Stat(key)->references, 2u);
  volume.reset();
  volume = lab.Open();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(volume->Delete(key, {"me", "3"}));
  EXPECT_EQ(volume->Stat(key)->references, 1u);
  EXPECT_TRUE(volume->Delete(key, {"me", "4"}));
  EXPECT_TRUE(volume->Delete(key, {"me", "4"}));
  EXPECT_EQ(volume->Delete(key, {"me", "5"}).error().code, ErrorCode::kNotFound);
}

TEST(ContainerVolume, W6_ABlockGoesWithItsLastReference) {
  ContainerLab lab;
  const auto volume = lab.Make();
  const ContentKey key = StoreContent(*volume, "page", "1")->key;
  ASSERT_TRUE(StoreContent(*volume, "page", "2", StoreMode::kRegular, "you"));
  EXPECT_EQ(volume->Delete(key, {"other", "3"}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(volume->Delete(key, {"me", "3"}));
  EXPECT_EQ(volume->Delete(key, {"me", "4"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*ReadContent(*volume, key), "page");
  const auto reading = volume->Retrieve(key);
  EXPECT_TRUE(volume->Delete(key, {"you", "5"}));
  EXPECT_EQ(volume->Retrieve(key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(volume->Stat(key).error().code, ErrorCode::kNotFound);
  std::string rest(10, '\0');
  EXPECT_EQ(*(*reading)->Read(rest), 4u);  // the stream stays good
  EXPECT_EQ(volume->Stats()->blocks, 0u);
  const auto again = StoreContent(*volume, "page", "6");
  EXPECT_TRUE(again->is_new);
  EXPECT_EQ(*ReadContent(*volume, again->key), "page");
}

TEST(ContainerVolume, W5_RegularModeTellsCollidingContentsApartBySize) {
  ContainerLab lab;
  lab.shape.signature = "parity";
  lab.options.signature = std::make_shared<ParitySignatures>();
  const auto volume = lab.Make();
  const auto a = StoreContent(*volume, "aa", "1");
  const auto b = StoreContent(*volume, "aaaa", "2");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->key.signature, b->key.signature);
  EXPECT_EQ(b->key.overflow, 1u);
  EXPECT_EQ(*ReadContent(*volume, a->key), "aa");
  EXPECT_EQ(*ReadContent(*volume, b->key), "aaaa");
  EXPECT_FALSE(StoreContent(*volume, "cc", "3")->is_new);  // what the mode means
}

TEST(ContainerVolume, W5_CompareModeNeverLosesAContent) {
  ContainerLab lab;
  lab.shape.signature = "parity";
  lab.options.signature = std::make_shared<ParitySignatures>();
  lab.options.memory_bytes_max = 8;
  auto volume = lab.Make();
  const std::vector<std::string> contents = {
      "aa", "cc", "ee", std::string(1000, 'a'), std::string(1000, 'c'), ""};
  std::vector<ContentKey> keys;
  for (const std::string& content : contents) {
    const auto stored =
        StoreContent(*volume, content, "1" + content.substr(0, 9), StoreMode::kCompare);
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_TRUE(stored->is_new);
    keys.push_back(stored->key);
  }
  volume.reset();
  volume = lab.Open();
  for (std::size_t i = 0; i < contents.size(); ++i) {
    EXPECT_EQ(keys[i].overflow, i);
    EXPECT_EQ(*ReadContent(*volume, keys[i]), contents[i]);
    const auto request = RequestFor(volume->signature(), contents[i], "2", StoreMode::kCompare);
    EXPECT_EQ(volume->Reference(request)->outcome, Lookup::Outcome::kCandidate);
    const auto again =
        StoreContent(*volume, contents[i], "2" + contents[i].substr(0, 9), StoreMode::kCompare);
    EXPECT_EQ(again->key, keys[i]);
    EXPECT_FALSE(again->is_new);
  }
  EXPECT_TRUE(volume->Delete(keys[1], {"me", "3"}));
  EXPECT_TRUE(volume->Delete(keys[1], {"me", "4"}));
  EXPECT_EQ(StoreContent(*volume, "gg", "5", StoreMode::kCompare)->key.overflow, 1u);
}

TEST(ContainerVolume, W5_ForceNewAlwaysMakesABlock) {
  ContainerLab lab;
  const auto volume = lab.Make();
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto stored = StoreContent(*volume, "page", std::to_string(i), StoreMode::kForceNew);
    EXPECT_TRUE(stored->is_new);
    EXPECT_EQ(stored->key.overflow, i);
    EXPECT_EQ(*ReadContent(*volume, stored->key), "page");
  }
  EXPECT_EQ(volume->Stats()->blocks, 3u);
}

TEST(ContainerVolume, RefusesContentsThatAreNotWhatTheRequestSays) {
  ContainerLab lab;
  lab.options.memory_bytes_max = 10;
  const auto volume = lab.Make();
  for (const std::string& content : {std::string("page"), std::string(1000, 'a')}) {
    const StoreRequest request = RequestFor(volume->signature(), content, "1");
    for (const std::string& wrong :
         {content + "x", content.substr(1), "x" + content.substr(1), std::string()}) {
      io::MemorySource source(wrong);
      EXPECT_EQ(volume->Store(request, source).error().code, ErrorCode::kInvalid);
    }
  }
  StoreRequest request = RequestFor(volume->signature(), "page", "with space");
  EXPECT_EQ(volume->Reference(request).error().code, ErrorCode::kInvalid);
  request = RequestFor(ParitySignatures(), "page", "1");
  EXPECT_EQ(volume->Reference(request).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(volume->Stats()->blocks, 0u);
  EXPECT_TRUE(lab.disk.List("v/temporary")->empty());
}

TEST(ContainerVolume, SealsContainersAtTheirSizeAndNeverChangesThemAgain) {
  ContainerLab lab;
  lab.options.log.container_bytes_max = 3000;
  auto volume = lab.Make();
  std::vector<ContentKey> keys;
  for (int i = 0; i < 10; ++i) {
    keys.push_back(StoreContent(*volume, NoiseOf(1000, i), std::to_string(i))->key);
  }
  const std::vector<std::string> names = lab.Containers();
  ASSERT_EQ(names.size(), 10u);
  EXPECT_EQ(names.front(), "00000001.warc.gz");
  EXPECT_EQ(names.back(), "00000010.warc.gz.open");
  const std::string first = *io::ReadFile(lab.disk, "v/containers/00000001.warc.gz");
  EXPECT_TRUE(volume->Delete(keys[0], {"me", "d"}));
  volume.reset();
  volume = lab.Open();
  EXPECT_EQ(*io::ReadFile(lab.disk, "v/containers/00000001.warc.gz"), first);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(*ReadContent(*volume, keys[i]), NoiseOf(1000, i));
  EXPECT_TRUE(FindingsOf(*volume).empty());
}

TEST(ContainerVolume, TakesContentsLargerThanAContainer) {
  ContainerLab lab;
  lab.options.memory_bytes_max = 10'000;
  lab.options.log.container_bytes_max = 100'000;
  lab.options.log.copied_bytes_max = 50'000;
  auto volume = lab.Make();
  std::vector<ContentKey> keys;
  const std::vector<std::string> contents = {"small",
                                             NoiseOf(30'000, 1),
                                             NoiseOf(500'000, 2),
                                             std::string(500'000, 'a'),
                                             NoiseOf(60'000, 3),
                                             "small too"};
  for (const std::string& content : contents) {
    const auto stored = StoreContent(*volume, content, std::to_string(keys.size()));
    ASSERT_TRUE(stored) << stored.error().text;
    keys.push_back(stored->key);
  }
  for (int round = 0; round < 3; ++round) {
    if (round > 0) {
      volume.reset();
      if (round == 2) {
        ASSERT_TRUE(lab.table.Clear());
      }
      volume = lab.Open();
    }
    for (std::size_t i = 0; i < contents.size(); ++i) {
      EXPECT_EQ(*ReadContent(*volume, keys[i]), contents[i]);
    }
    EXPECT_TRUE(FindingsOf(*volume).empty());
  }
  EXPECT_TRUE(lab.disk.List("v/temporary")->empty());
  EXPECT_EQ(volume->Stats()->blocks, contents.size());
}

TEST(ContainerVolume, TheTableCanBeMadeAgainFromTheContainers) {
  ContainerLab lab;
  lab.options.log.container_bytes_max = 4000;
  auto volume = lab.Make();
  std::vector<ContentKey> keys;
  for (int i = 0; i < 40; ++i) {
    const auto stored = StoreContent(*volume, "page " + std::to_string(i % 15), std::to_string(i));
    keys.push_back(stored->key);
    if (i % 4 == 0) {
      ASSERT_TRUE(volume->Delete(stored->key, {"me", "d" + std::to_string(i)}));
    }
  }
  const auto rows_of = [&] {
    BlockTable::Changes rows;
    EXPECT_TRUE(lab.table.Scan("", [&](std::string_view key, std::string_view value) {
      rows[std::string(key)] = value;
      return true;
    }));
    return rows;
  };
  const BlockTable::Changes before = rows_of();
  const VolumeStats stats = *volume->Stats();
  volume.reset();
  ASSERT_TRUE(lab.table.Clear());
  volume = lab.Open();
  EXPECT_EQ(rows_of(), before);
  EXPECT_EQ(volume->Stats()->stored_bytes, stats.stored_bytes);
  EXPECT_EQ(volume->Stats()->references, stats.references);
  EXPECT_EQ(volume->Stats()->content_bytes, stats.content_bytes);
}

TEST(ContainerVolume, KeepsItsStates) {
  ContainerLab lab;
  auto volume = lab.Make();
  const ContentKey key = StoreContent(*volume, "page", "1")->key;
  EXPECT_EQ(volume->SetState(VolumeState::kFull).error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(volume->SetState(VolumeState::kReadOnly));
  volume.reset();
  volume = lab.Open();
  EXPECT_EQ(volume->state(), VolumeState::kReadOnly);
  EXPECT_EQ(StoreContent(*volume, "new", "2").error().code, ErrorCode::kFull);
  EXPECT_EQ(StoreContent(*volume, "page", "3")->key, key);
  EXPECT_TRUE(volume->Delete(key, {"me", "4"}));
  ASSERT_TRUE(volume->SetState(VolumeState::kFrozen));
  EXPECT_EQ(StoreContent(*volume, "page", "5").error().code, ErrorCode::kFull);
  EXPECT_EQ(volume->Delete(key, {"me", "6"}).error().code, ErrorCode::kFull);
  EXPECT_EQ(*ReadContent(*volume, key), "page");
  ASSERT_TRUE(volume->SetState(VolumeState::kWritable));
  EXPECT_TRUE(StoreContent(*volume, "new", "7")->is_new);
}

TEST(ContainerVolume, IsFullWhenItsCapacityIsUsedAndStillTakesReferences) {
  ContainerLab lab;
  lab.shape.capacity_bytes = 10'500;
  const auto volume = lab.Make();
  const std::string content = NoiseOf(8000, 1);
  const ContentKey key = StoreContent(*volume, content, "1")->key;
  EXPECT_EQ(volume->state(), VolumeState::kWritable);
  EXPECT_EQ(StoreContent(*volume, NoiseOf(3000, 2), "2").error().code, ErrorCode::kFull);
  EXPECT_TRUE(StoreContent(*volume, "small", "3"));
  for (int i = 0; volume->state() == VolumeState::kWritable; ++i) {
    ASSERT_LT(i, 100);
    ASSERT_TRUE(StoreContent(*volume, content, "r" + std::to_string(i)));
  }
  EXPECT_EQ(volume->state(), VolumeState::kFull);
  EXPECT_TRUE(StoreContent(*volume, content, "4"));
  EXPECT_TRUE(volume->Delete(key, {"me", "5"}));
  EXPECT_EQ(StoreContent(*volume, "tiny", "6").error().code, ErrorCode::kFull);
}

TEST(ContainerVolume, W10_RestoringWithoutRoomLeavesNothingBehind) {
  ContainerLab lab;
  lab.shape.capacity_bytes = 10'500;
  const auto volume = lab.Make();
  const std::string content = NoiseOf(8000, 1);
  const ContentKey key = StoreContent(*volume, content, "1")->key;
  ASSERT_TRUE(StoreContent(*volume, content, "2"));
  ASSERT_EQ(volume->state(), VolumeState::kWritable);
  const std::uint64_t before = volume->Stats()->stored_bytes;
  for (int attempt = 0; attempt < 3; ++attempt) {
    io::MemorySource source(content);
    EXPECT_EQ(volume->Restore(key, content.size(), source).error().code, ErrorCode::kFull);
  }
  EXPECT_EQ(volume->Stats()->stored_bytes, before);
}

TEST(ContainerVolume, W9_IsFullBeforeItsDiskIs) {
  ContainerLab lab;
  lab.options.disk_reserve_bytes = 100'000;
  lab.options.disk.moment = std::chrono::milliseconds(0);
  const auto volume = lab.Make();
  const std::string content = NoiseOf(8000, 1);
  const ContentKey key = StoreContent(*volume, content, "1")->key;
  lab.disk.SetFreeBytes(105'000);
  EXPECT_EQ(volume->state(), VolumeState::kWritable);
  EXPECT_EQ(StoreContent(*volume, NoiseOf(8000, 2), "2").error().code, ErrorCode::kFull);
  EXPECT_TRUE(StoreContent(*volume, "small", "3"));
  lab.disk.SetFreeBytes(100'000);
  EXPECT_EQ(volume->state(), VolumeState::kFull);
  EXPECT_EQ(StoreContent(*volume, "tiny", "4").error().code, ErrorCode::kFull);
  EXPECT_EQ(StoreContent(*volume, content, "5")->key, key);
  EXPECT_TRUE(volume->Delete(key, {"me", "6"}));
  lab.disk.SetFreeBytes(1 << 20);
  EXPECT_TRUE(StoreContent(*volume, "tiny", "4"));
}

TEST(ContainerVolume, W9_GoesOnAfterTheDiskWasFull) {
  ContainerLab lab;
  lab.options.disk_reserve_bytes = 0;
  lab.options.disk.moment = std::chrono::milliseconds(0);
  auto volume = lab.Make();
  const std::string first = NoiseOf(8000, 1);
  const ContentKey key = StoreContent(*volume, first, "1")->key;
  lab.disk.SetFreeBytes(8100);
  EXPECT_EQ(StoreContent(*volume, NoiseOf(8000, 2), "2").error().code, ErrorCode::kFull);
  EXPECT_TRUE(StoreContent(*volume, first, "3"));  // a reference fits
  lab.disk.SetFreeBytes(10);                       // for a part of a record, which is cut off again
  EXPECT_EQ(volume->Delete(key, {"me", "4"}).error().code, ErrorCode::kFull);
  lab.disk.SetFreeBytes(1 << 20);
  EXPECT_TRUE(volume->Delete(key, {"me", "4"}));
  const ContentKey second = StoreContent(*volume, NoiseOf(8000, 2), "2")->key;
  for (const bool reopened : {false, true}) {
    if (reopened) {
      volume.reset();
      lab.disk.Crash();
      ASSERT_TRUE(lab.table.Clear());
      volume = lab.Open();
      EXPECT_TRUE(volume->torn().empty());
    }
    EXPECT_EQ(volume->Stat(key)->references, 1u);
    EXPECT_EQ(*ReadContent(*volume, key), first);
    EXPECT_EQ(*ReadContent(*volume, second), NoiseOf(8000, 2));
    EXPECT_TRUE(FindingsOf(*volume).empty());
  }
}

TEST(ContainerVolume, IsOpenOnceAndSaysWhatIsWrong) {
  ContainerLab lab;
  EXPECT_EQ(lab.Open(lab.disk).error().code, ErrorCode::kNotFound);
  lab.shape.name = "No Name";
  EXPECT_EQ(ContainerVolume::Create(lab.disk, "v", lab.shape).error().code, ErrorCode::kInvalid);
  lab.shape.name = "tomba";
  const auto volume = lab.Make();
  EXPECT_EQ(lab.Open(lab.disk).error().code, ErrorCode::kBusy);
  EXPECT_EQ(ContainerVolume::Create(lab.disk, "v", lab.shape).error().code, ErrorCode::kInvalid);
  lab.options.compression = CompressionTable({{"*", {"zstd", 3}}});
  EXPECT_EQ(lab.Open(lab.disk).error().code, ErrorCode::kInvalid);
  ContentKey key = StoreContent(*volume, "page", "1")->key;
  key.volume = "other";
  EXPECT_EQ(volume->Retrieve(key).error().code, ErrorCode::kInvalid);
}

TEST(ContainerVolume, SaysHowContentsAreCompressed) {
  ContainerLab lab;
  auto volume = lab.Make();
  const std::string page(100'000, 'x');
  StoreRequest request = RequestFor(volume->signature(), page, "1");
  io::MemorySource text(page);
  const ContentKey key = volume->Store(request, text)->key;
  request.mode = StoreMode::kForceNew;
  request.operation.id = "2";
  request.media_type = "image/png";
  io::MemorySource image(page);
  const ContentKey image_key = volume->Store(request, image)->key;
  for (const bool reopened : {false, true}) {
    if (reopened) {
      volume.reset();
      ASSERT_TRUE(lab.table.Clear());
      volume = lab.Open();
    }
    EXPECT_EQ(volume->Stat(key)->compression, "gzip");
    EXPECT_LT(volume->Stat(key)->stored_size, 2000u);
    EXPECT_EQ(volume->Stat(image_key)->compression, "identity");
    EXPECT_GT(volume->Stat(image_key)->stored_size, page.size());
    EXPECT_EQ(*ReadContent(*volume, key), page);
    EXPECT_EQ(*ReadContent(*volume, image_key), page);
  }
}

TEST(ContainerVolume, WritesContainersThatAnyWarcReaderReads) {
  ContainerLab lab;
  const auto volume = lab.Make();
  const ContentKey key = StoreContent(*volume, "<p>page</p>", "1")->key;
  ASSERT_TRUE(StoreContent(*volume, "<p>page</p>", "2"));
  ASSERT_TRUE(volume->Delete(key, {"me", "3"}));
  const std::string bytes = *io::ReadFile(lab.disk, "v/containers/00000001.warc.gz.open");
  io::MemorySource source(bytes);
  record::RecordReader reader(*record::OpenRecordInput(source),
                              std::make_unique<warc::WarcGrammar>());
  std::vector<std::string> seen;
  std::string block_id;
  while (const record::Record* record = *reader.Next()) {
    seen.emplace_back(record->type_name);
    if (record->type == record::RecordType::kResource) {
      block_id = record->record_id().substr(1, record->record_id().size() - 2);
      EXPECT_EQ(record->target_uri, "stele:" + key.Text());
      EXPECT_EQ(record->content_type, "text/html");
      EXPECT_EQ(record->fields.Find("Stele-Block"), key.signature.Hex());
      EXPECT_EQ(*reader.ReadBlock(), "<p>page</p>");
    } else if (record->type == record::RecordType::kMetadata) {
      const char* const act = seen.size() == 3 ? "stele-reference: " : "stele-release: ";
      EXPECT_EQ(*reader.ReadBlock(), fmt::format("{}{} me {} {}\r\n", act, key.signature.Hex(),
                                                 seen.size() - 1, block_id));
    }
    ASSERT_TRUE(reader.Finish());
    EXPECT_TRUE(reader.defects().empty());
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"warcinfo", "resource", "metadata", "metadata"}));
  EXPECT_TRUE(reader.losses().empty());
}

}  // namespace
}  // namespace stele::store
