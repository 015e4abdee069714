#include "cli/record_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/archive_file/archive_file.h"
#include "io/stream.h"

namespace stele::cli {
namespace {

using testing::ElementsAre;

std::string RecordText(const std::string& type, const std::string& uri, const std::string& date,
                       const std::string& content_type, const std::string& block) {
  return "WARC/1.1\r\nWARC-Type: " + type + "\r\nWARC-Target-URI: " + uri +
         "\r\nWARC-Date: " + date + "\r\nContent-Type: " + content_type +
         "\r\nContent-Length: " + std::to_string(block.size()) + "\r\n\r\n" + block + "\r\n\r\n";
}

std::string Page(const std::string& uri, const std::string& date, const std::string& status = "200",
                 const std::string& mime = "text/html; charset=utf-8") {
  return RecordText("response", uri, date, "application/http; msgtype=response",
                    "HTTP/1.1 " + status + " X\r\nContent-Type: " + mime + "\r\n\r\nbody");
}

// The URLs of the records that are selected; the blocks of all of them are still whole.
std::vector<std::string> Selected(const std::string& file, const Arguments& arguments) {
  const Result<RecordSelection> selection = SelectionOf(arguments);
  EXPECT_TRUE(selection);
  auto archive = archive_file::ArchiveFile::Open(std::make_unique<io::MemorySource>(file), "f");
  record::RecordReader& reader = (*archive)->reader();
  std::vector<std::string> urls;
  while (const record::Record* record = *reader.Next()) {
    PeekedBlock block(reader, *record);
    if (*Selects(*selection, *record, block)) urls.emplace_back(record->target_uri);
    std::string bytes;
    for (std::string_view piece; !(piece = *block.Read()).empty();) bytes += piece;
    EXPECT_EQ(bytes.size(), record->content_length);
  }
  return urls;
}

Arguments With(std::map<std::string, std::vector<std::string>, std::less<>> values) {
  return {{}, std::move(values)};
}

const std::string kPlaces = Page("http://example.org/", "2014-01-01T00:00:00Z") +
                            Page("http://www.example.org/a/", "2014-02-01T00:00:00Z") +
                            Page("https://example.org:8080/a/b?x=1", "2014-03-01T00:00:00Z") +
                            Page("http://sub.example.org/a/b", "2014-04-01T00:00:00Z") +
                            Page("http://badexample.org/ab", "2014-05-01T00:00:00Z");

TEST(RecordSelection, EverythingWithoutConditions) {
  EXPECT_EQ(Selected(kPlaces, {}).size(), 5u);
  EXPECT_TRUE(Selected(kPlaces, With({{"--invert", {}}})).empty());
}

TEST(RecordSelection, UrlsAreComparedAsReplayToolsDo) {
  EXPECT_THAT(Selected(kPlaces, With({{"--url", {"https://EXAMPLE.org/a"}}})),
              ElementsAre("http://www.example.org/a/"));
  EXPECT_THAT(Selected(kPlaces, With({{"--url", {"example.org", "badexample.org/ab"}}})),
              ElementsAre("http://example.org/", "http://badexample.org/ab"));
}

TEST(RecordSelection, APrefixThatEndsInASlashIsADirectory) {
  EXPECT_THAT(Selected(kPlaces, With({{"--prefix", {"http://example.org/a/"}}})),
              ElementsAre("http://www.example.org/a/"));
  EXPECT_THAT(Selected(kPlaces, With({{"--prefix", {"http://badexample.org/a/"}}})), ElementsAre());
  EXPECT_THAT(Selected(kPlaces, With({{"--prefix", {"http://badexample.org/a"}}})),
              ElementsAre("http://badexample.org/ab"));
}

TEST(RecordSelection, HostsAndDomainsEndAtTheirLabels) {
  EXPECT_THAT(Selected(kPlaces, With({{"--host", {"example.org"}}})),
              ElementsAre("http://example.org/", "http://www.example.org/a/",
                          "https://example.org:8080/a/b?x=1"));
  EXPECT_THAT(Selected(kPlaces, With({{"--domain", {"example.org"}}})).size(), 4u);
  EXPECT_THAT(Selected(kPlaces, With({{"--domain", {"org"}}})).size(), 5u);
}

TEST(RecordSelection, TimesIncludeAllThatTheyMayMean) {
  const auto count = [](const std::string& from, const std::string& to) {
    std::map<std::string, std::vector<std::string>, std::less<>> values;
    if (!from.empty()) values["--from"] = {from};
    if (!to.empty()) values["--to"] = {to};
    return Selected(kPlaces, With(values)).size();
  };
  EXPECT_EQ(count("2014", "2014"), 5u);
  EXPECT_EQ(count("201402", ""), 4u);
  EXPECT_EQ(count("", "201402"), 2u);
  EXPECT_EQ(count("2014-02", "2014-03"), 2u);
  EXPECT_EQ(count("2014-02-01T00:00:00Z", "2014-02-01T00:00:00Z"), 1u);
  EXPECT_EQ(count("2014-02-01T02:00:00+02:00", "20140201000000"), 1u);
  EXPECT_EQ(count("20140201000001", ""), 3u);
  EXPECT_EQ(count("2015", ""), 0u);
  EXPECT_TRUE(Selected(Page("http://a/", "no date"), With({{"--from", {"1996"}}})).empty());
}

TEST(RecordSelection, HttpSaysStatusAndType) {
  const std::string file =
      Page("http://a/", "2014-01-01T00:00:00Z") +
      Page("http://b/", "2014-01-01T00:00:00Z", "404", "TEXT/HTML") +
      Page("http://c/", "2014-01-01T00:00:00Z", "200", "image/png") +
      RecordText("resource", "http://d/", "2014-01-01T00:00:00Z", "image/gif", "GIF89a") +
      RecordText("response", "http://e/", "2014-01-01T00:00:00Z", "application/http", "no HTTP");
  EXPECT_THAT(Selected(file, With({{"--status", {"200"}}})), ElementsAre("http://a/", "http://c/"));
  EXPECT_THAT(Selected(file, With({{"--status", {"4xx"}}})), ElementsAre("http://b/"));
  EXPECT_THAT(Selected(file, With({{"--mime", {"text/html"}}})),
              ElementsAre("http://a/", "http://b/"));
  EXPECT_THAT(Selected(file, With({{"--mime", {"image/*"}}})),
              ElementsAre("http://c/", "http://d/"));
  EXPECT_THAT(Selected(file, With({{"--mime", {"image/*"}}, {"--status", {"2xx"}}})),
              ElementsAre("http://c/"));
  EXPECT_THAT(Selected(file, With({{"--mime", {"image/*"}}, {"--invert", {}}})),
              ElementsAre("http://a/", "http://b/", "http://e/"));
  EXPECT_THAT(Selected(file, With({{"--type", {"Resource"}}})), ElementsAre("http://d/"));
}

TEST(RecordSelection, RefusesWhatIsNoTimeAndNoStatus) {
  for (const std::string time : {"20", "2014-13", "yesterday", "20141301", ""}) {
    EXPECT_FALSE(SelectionOf(With({{"--from", {time}}}))) << time;
    EXPECT_FALSE(SelectionOf(With({{"--to", {time}}}))) << time;
  }
  for (const std::string status : {"2", "x00", "20x", "2000", ""}) {
    EXPECT_FALSE(SelectionOf(With({{"--status", {status}}}))) << status;
  }
}

}  // namespace
}  // namespace stele::cli
