// Checking and compacting volumes that are served.
#include <gmock/gmock.h>

#include <thread>

#include "store/forwarding_volume.h"
#include "store/remote/test_service.h"

namespace stele::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Script = std::function<Result<std::uint64_t>(const CompactOptions&)>;

// Compacts as it is told.
class ScriptedVolume final : public ForwardingVolume {
 public:
  ScriptedVolume(std::unique_ptr<Volume> base, const Script& script)
      : ForwardingVolume(*base), owned_(std::move(base)), script_(script) {}
  Result<std::uint64_t> Compact(const CompactOptions& options) override { return script_(options); }

 private:
  const std::unique_ptr<Volume> owned_;
  const Script& script_;
};

class CompactedVolume : public testing::Test {
 protected:
  io::MemoryFileSystem fs_;
  Script script_;
  std::unique_ptr<Member> member_ = *OpenMember(
      fs_, std::make_unique<ScriptedVolume>(NewVolume(fs_, {.name = "v"}, {}), script_));
  VolumeService service_{{member_.get()}, {}};
  net::TestServer server_{[this](net::Request& request, net::ResponseWriter& response) {
    service_.Handle(request, response);
  }};
  std::unique_ptr<net::HttpClient> client_ = NewClient();
  std::unique_ptr<RemoteVolume> remote_ = NewRemote(*client_, (*server_).port());
};

TEST_F(CompactedVolume, W9_TellsHowFarItIsWhatIsDamagedAndWhatIsFree) {
  script_ = [](const CompactOptions& options) -> Result<std::uint64_t> {
    EXPECT_DOUBLE_EQ(options.used_share_max, 0.29);
    options.progress(1, 3);
    options.report({"container 7", ErrorCode::kCorrupt, "a \"record\""});
    options.progress(3, 3);
    return std::uint64_t{77};
  };
  std::vector<std::uint64_t> done;
  std::vector<std::string> findings;
  CompactOptions options;
  options.used_share_max = 0.29;
  options.progress = [&](std::uint64_t done_bytes, std::uint64_t all_bytes) {
    EXPECT_EQ(all_bytes, 3u);
    done.push_back(done_bytes);
  };
  options.report = [&](const Finding& finding) {
    EXPECT_EQ(finding.code, ErrorCode::kCorrupt);
    findings.push_back(finding.where + ": " + finding.text);
  };
  const Result<std::uint64_t> freed = remote_->Compact(options);
  ASSERT_TRUE(freed) << freed.error().text;
  EXPECT_EQ(*freed, 77u);
  EXPECT_THAT(done, ElementsAre(1, 3));
  EXPECT_THAT(findings, ElementsAre("container 7: a \"record\""));
}

TEST_F(CompactedVolume, W9_FailuresComeBackWhateverWasToldBefore) {
  for (const bool told : {false, true}) {
    script_ = [&](const CompactOptions& options) -> Result<std::uint64_t> {
      if (told) options.progress(1, 2);
      return Error{ErrorCode::kFull, "no room"};
    };
    const Result<std::uint64_t> freed = remote_->Compact({});
    ASSERT_FALSE(freed);
    EXPECT_EQ(freed.error().code, ErrorCode::kFull);
    EXPECT_THAT(freed.error().text, HasSubstr("volume v at "));
    EXPECT_THAT(freed.error().text, HasSubstr("no room"));
  }
}

TEST_F(CompactedVolume, W9_EndsWhenNobodyListensAnyMore) {
  std::atomic<bool> ended = false;
  script_ = [&](const CompactOptions& options) -> Result<std::uint64_t> {
    while (!options.stop()) {
      options.progress(1, 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ended = true;
    return std::uint64_t{0};
  };
  CompactOptions options;
  options.stop = [told = 0]() mutable { return ++told > 3; };
  EXPECT_TRUE(remote_->Compact(options));
  while (!ended) std::this_thread::yield();
}

TEST_F(CompactedVolume, W9_AServerHasOneUnderWayAtATime) {
  script_ = [&](const CompactOptions&) -> Result<std::uint64_t> {
    const Result<std::uint64_t> second = remote_->Compact({});
    EXPECT_FALSE(second);
    if (!second) {
      EXPECT_EQ(second.error().code, ErrorCode::kBusy);
    }
    return std::uint64_t{1};
  };
  EXPECT_EQ(*remote_->Compact({}), 1u);
}

TEST(RemoteVolumeCare, W10_LinesThatAreNoneAreErrors) {
  std::string answer;
  net::TestServer server([&](net::Request&, net::ResponseWriter& response) {
    static_cast<void>(response.Reply(200, "application/x-ndjson", answer).ok());
  });
  const auto client = NewClient();
  const auto remote = NewRemote(*client, (*server).port());
  for (const char* wrong : {"rubbish\n", "[]\n", "{}\n", "{\"freed_bytes\": -1}\n",
                            "{\"where\": 1, \"error\": {\"code\": \"io\", \"text\": \"\"}}\n"}) {
    answer = wrong;
    EXPECT_EQ(remote->Compact({}).error().code, ErrorCode::kCorrupt) << wrong;
  }
  answer = std::string(1 << 20, ' ');
  EXPECT_EQ(remote->Compact({}).error().code, ErrorCode::kCorrupt);
  answer = "\n{\"done_bytes\": 1, \"all_bytes\": 2}\n{\"freed_";
  EXPECT_EQ(remote->Compact({}).error().code, ErrorCode::kIo);
}

TEST(RemoteVolumeCare, W8_EveryContentOfAServedVolumeIsRead) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  std::vector<std::string> paths;
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i) {
    const std::string content = "content " + std::to_string(i);
    io::MemorySource source(content);
    const auto stored = served.volume().Store(Sha256Request(content, std::to_string(i)), source);
    ASSERT_TRUE(stored);
    keys.push_back(stored->key.Text());
    paths.push_back("v/blocks/" + Sig2Location(stored->key.signature, 0, 3));
  }
  std::map<std::string, ErrorCode> findings;
  const auto report = [&](const Finding& finding) { findings[finding.where] = finding.code; };
  std::vector<std::uint64_t> told;
  EXPECT_EQ(*remote->Verify({report, [&](std::uint64_t blocks) { told.push_back(blocks); }}), 5u);
  EXPECT_THAT(told, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(findings, IsEmpty());
  const std::uint64_t size = *(*served.disk().OpenForReading(paths[1]))->Size();
  ASSERT_TRUE((*served.disk().OpenForUpdating(paths[1]))->WriteAt(size - 1, "#"));
  ASSERT_TRUE(served.disk().Remove(paths[3]));
  EXPECT_EQ(*remote->Verify({report}), 5u);
  EXPECT_THAT(findings,
              testing::UnorderedElementsAre(testing::Pair(keys[1], ErrorCode::kCorrupt),
                                            testing::Pair(keys[3], ErrorCode::kNotFound)));
  served.Die();
  EXPECT_FALSE(remote->Verify({report}));
}

// A volume of one content, whose server does something before it answers what the content is.
class CheckedVolume : public testing::Test {
 protected:
  using Interlude = std::function<void(net::ResponseWriter& response)>;

  Stored Put(const std::string& content) {
    io::MemorySource source(content);
    return *member_->Store(Sha256Request(content, content), source);
  }

  io::MemoryFileSystem fs_;
  std::unique_ptr<Member> member_ = NewMember(fs_, {.name = "v"});
  VolumeService service_{{member_.get()}, {}};
  Interlude interlude_;
  net::TestServer server_{[this](net::Request& request, net::ResponseWriter& response) {
    const bool reads = request.head().target.find("/contents/") != std::string::npos;
    const Interlude interlude = reads ? std::exchange(interlude_, nullptr) : nullptr;
    if (interlude) return interlude(response);
    service_.Handle(request, response);
  }};
  std::unique_ptr<net::HttpClient> client_ = NewClient();
  std::unique_ptr<RemoteVolume> remote_ = NewRemote(*client_, (*server_).port());
  const ContentKey key_ = Put("content").key;
};

TEST_F(CheckedVolume, W8_DamageIsFoundWhileContentsAreStoredBeforeIt) {
  ASSERT_TRUE(fs_.Remove("v/blocks/" + Sig2Location(key_.signature, 0, 3)));
  interlude_ = [&](net::ResponseWriter& response) {
    for (int stored = 0, number = 0; stored < 25; ++number) {
      const std::string content = std::to_string(number);
      if (Sha256Signatures().Of(content) > key_.signature) continue;
      Put(content);
      ++stored;
    }
    response.Abandon();
  };
  EXPECT_THAT(Findings(*remote_), ElementsAre(HasSubstr(key_.Text())));
}

TEST_F(CheckedVolume, W8_WhatIsDeletedMeanwhileIsNoDamage) {
  interlude_ = [&](net::ResponseWriter& response) {
    ASSERT_TRUE(member_->Delete(key_, {"test", "gone"}));
    response.Abandon();
  };
  EXPECT_THAT(Findings(*remote_), IsEmpty());
}

TEST_F(CheckedVolume, W8_AContentThatWasCutOffOnItsWayIsReadAgain) {
  interlude_ = [&](net::ResponseWriter& response) {
    ASSERT_TRUE(response.Start({200, {}, 7}));
    ASSERT_TRUE(response.Write("con"));
    response.Abandon();
  };
  EXPECT_THAT(Findings(*remote_), IsEmpty());
}

}  // namespace
}  // namespace stele::store
