#include "archive/verify.h"

#include <gtest/gtest.h>

#include "archive/test_archive.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

class Verifying : public ::testing::Test {
 protected:
  void SetUp() override {
    PutFile(fs_, "x.warc.gz",
            WarcText()
                .Response("http://a.example/", "2004-05-30T01:02:03Z", "one")
                .Response("http://b.example/", "2004-05-30T01:02:03Z", "two")
                .bytes());
    ArchiveLab lab(fs_);
    ASSERT_TRUE(lab.Create());
    auto archive = lab.Open();
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(**archive, 1, "x.warc.gz", {}));
    ASSERT_TRUE((*archive)->EndRun(1));
  }

  std::vector<std::string> Defects(const VerifyOptions& options = {}) {
    auto reader = ArchiveReader::Open(fs_, "a");
    if (!reader) return {"cannot open: " + reader.error().text};
    const ArchiveView view = (*reader)->View();
    std::vector<std::string> defects;
    const auto outcome =
        Verify(view, options, [&](const std::string& defect) { defects.push_back(defect); });
    if (!outcome) return {"cannot verify: " + outcome.error().text};
    EXPECT_EQ(outcome->defects, defects.size());
    EXPECT_EQ(outcome->containers, 1u);
    return defects;
  }
  void Flip(const std::string& path, std::size_t at) {
    std::string bytes = *io::ReadFile(fs_, path);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    PutFile(fs_, path, bytes);
  }

  void ExpectAdvisedOnce(const std::string& defect) {
    const std::size_t advice = defect.find("; make it anew with: stele reindex");
    EXPECT_NE(advice, std::string::npos) << defect;
    EXPECT_EQ(defect.find(';'), advice) << defect;
  }

  const std::string file_ = "a/volumes/main/00000001/x.warc.gz";
  io::MemoryFileSystem fs_;
};

TEST_F(Verifying, FindsNothingWhereAllIsRight) { EXPECT_TRUE(Defects().empty()); }

TEST_F(Verifying, NamesEachFlippedByteOfAFile) {
  const std::size_t size = io::ReadFile(fs_, file_)->size();
  for (std::size_t at = 0; at < size; at += 11) {
    Flip(file_, at);
    const std::vector<std::string> defects = Defects();
    ASSERT_EQ(defects.size(), 1u) << at;
    EXPECT_TRUE(defects[0].starts_with(file_ + ": its SHA-256 is ")) << defects[0];
    EXPECT_TRUE(Defects({.read_files = false, .progress = {}}).empty());
    Flip(file_, at);
  }
}

TEST_F(Verifying, NamesFilesThatAreGoneOrOfAnotherSize) {
  const std::string bytes = *io::ReadFile(fs_, file_);
  PutFile(fs_, file_, bytes + "x");
  EXPECT_NE(Defects({.read_files = false, .progress = {}})[0].find(" bytes and had "),
            std::string::npos);
  ASSERT_TRUE(fs_.Remove(file_));
  EXPECT_NE(Defects()[0].find("restore it from a backup"), std::string::npos);
}

TEST_F(Verifying, NamesDamagedRowsAndReindexMendsThem) {
  const std::string rows = "a/volumes/main/00000001.rows";
  for (std::size_t at = 0; at < io::ReadFile(fs_, rows)->size(); at += 7) {
    Flip(rows, at);
    const std::vector<std::string> defects = Defects();
    ASSERT_FALSE(defects.empty()) << at;
    EXPECT_NE(defects[0].find(rows), std::string::npos) << defects[0];
    ExpectAdvisedOnce(defects[0]);
    {
      ArchiveLab lab(fs_);
      auto archive = lab.Open(ArchiveWriter::Rebuild::kCatalog);
      ASSERT_TRUE(archive) << archive.error().text;
    }
    EXPECT_TRUE(Defects().empty()) << at;
  }
}

TEST_F(Verifying, FindsACatalogThatLacksSomething) {
  // As if the rows had never reached it.
  const std::vector<std::string> names = *fs_.List("a/catalog");
  for (const std::string& name : names) {
    if (name.ends_with(".log")) PutFile(fs_, "a/catalog/" + name, "STELE-ROWS 2   \n");
  }
  const std::vector<std::string> defects = Defects();
  ASSERT_EQ(defects.size(), 3u);
  EXPECT_TRUE(defects[0].starts_with("capture 200405/0 of http://a.example/: the catalog does not"))
      << defects[0];
  EXPECT_EQ(defects[2],
            "the index leads to 0 captures, and there are 2; make it anew with: stele "
            "reindex");
}

class VerifyingATakedown : public Verifying {
 protected:
  void SetUp() override {
    Verifying::SetUp();
    ArchiveLab lab(fs_);
    auto archive = lab.Open();
    ASSERT_TRUE((*archive)->Remove({{200405, 0}}, "because", "a test"));
    ASSERT_TRUE(Defects().empty());
  }
  // The log that has the row which says so.
  std::string Log() {
    std::string found;
    const std::vector<std::string> names = *fs_.List("a/catalog");
    for (const std::string& name : names) {
      if (name.ends_with(".log")) found = "a/catalog/" + name;
    }
    return found;
  }
};

TEST_F(VerifyingATakedown, I7_AFlippedByteDoesNotUndoIt) {
  const std::string log = Log();
  // The end was not synced: the mark that all before it was.
  const std::size_t end = io::ReadFile(fs_, log)->size() - 9;
  ASSERT_GT(end, 60u);
  for (std::size_t at = 0; at < end; ++at) {
    Flip(log, at);
    const std::vector<std::string> defects = Defects();
    ASSERT_FALSE(defects.empty()) << at;
    EXPECT_TRUE(defects[0].starts_with("cannot open: " + log)) << defects[0];
    ExpectAdvisedOnce(defects[0]);
    Flip(log, at);
  }
}

TEST_F(VerifyingATakedown, I7_ACatalogThatForgotItIsNamed) {
  PutFile(fs_, Log(), "STELE-ROWS 2   \n");
  const std::vector<std::string> defects = Defects();
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_TRUE(defects[0].starts_with("capture 200405/0 of http://a.example/: the catalog says "))
      << defects[0];
}

}  // namespace
}  // namespace stele::archive
