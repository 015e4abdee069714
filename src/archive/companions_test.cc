#include "archive/companions.h"

#include <gtest/gtest.h>

#include "archive/test_archive.h"
#include "codec/gzip_codec.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

class Belonging : public ::testing::Test {
 protected:
  void Import(const std::string& bytes) {
    PutFile(fs_, "x.warc.gz", bytes);
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    ASSERT_TRUE(archive_->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(*archive_, 1, "x.warc.gz", {}));
  }
  // Of the records that belong to the capture of this URL.
  std::vector<std::uint64_t> UrisOf(const std::string& url) {
    const ArchiveView view = archive_->View();
    CaptureQuery query;
    query.where.what = catalog::SelectUrl(url);
    CaptureResults results(view, query);
    const catalog::HeldCapture* held = *results.Next();
    std::vector<std::uint64_t> uris;
    Companions companions(view);
    const std::vector<Companion> all = *companions.Of(held->row);
    for (const Companion& one : all) uris.push_back(one.uri);
    return uris;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

// A response and the request for it; all that are made so have the same record ids.
std::string Pair(const std::string& url, const std::string& asked) {
  return WarcText(record::Compression::kNone)
      .Response(url, "2004-01-01T00:00:00Z", url)
      .Request(asked, "2004-01-01T00:00:00Z", "GET / HTTP/1.1")
      .bytes();
}

std::string InOneMember(const std::string& bytes) { return *codec::GzipCodec().Compress(bytes, 6); }

TEST_F(Belonging, W15_OfCapturesWithOneIdInOneMemberTheUriTells) {
  const std::string a = "http://a.example/";
  const std::string b = "http://b.example/";
  Import(InOneMember(Pair(a, a) + Pair(b, b)));
  EXPECT_EQ(UrisOf(a), std::vector{ChecksumOf(a)});
  EXPECT_EQ(UrisOf(b), std::vector{ChecksumOf(b)});
}

TEST_F(Belonging, W15_OfCapturesWithOneIdInOneMemberWithoutTheUriNoneIsMeant) {
  const std::string a = "http://a.example/";
  const std::string b = "http://b.example/";
  Import(InOneMember(Pair(a, "http://x.example/") + Pair(b, "http://x.example/")));
  EXPECT_TRUE(UrisOf(a).empty());
  EXPECT_TRUE(UrisOf(b).empty());
}

TEST_F(Belonging, W15_OfCapturesWithOneIdTheNearestOfTheUriIsMeant) {
  const std::string a = "http://a.example/";
  const std::string b = "http://b.example/";
  Import(Pair(a, b) + Pair(b, a));
  EXPECT_EQ(UrisOf(a), std::vector{ChecksumOf(a)});
  EXPECT_EQ(UrisOf(b), std::vector{ChecksumOf(b)});
}

}  // namespace
}  // namespace stele::archive
