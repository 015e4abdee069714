// Real records of other tools: their payload digests are the judge of what a payload is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codec/gzip_member.h"
#include "codec/registry.h"
#include "formats/http/body.h"
#include "formats/http/content_decoder.h"
#include "formats/http/message.h"
#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/test_paths.h"

namespace stele::http {
namespace {

std::filesystem::path Samples() { return SamplePath("warc-samples"); }

std::string Sha1(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EXPECT_EQ(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha1(), nullptr), 1);
  return Base32Encode({reinterpret_cast<const char*>(digest), size});
}

// All members inflated, as far as they go.
std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!bytes.starts_with("\x1f\x8b")) return bytes;
  codec::GzipMemberInflater inflater;
  codec::Buffer out;
  std::string all;
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto member = inflater.Inflate(rest, 1 << 26, out);
    if (!member.ok() || member->kind != codec::GzipMemberInflater::Kind::kDone) break;
    all += out.view();
    rest.remove_prefix(member->consumed);
  }
  return all;
}

struct StoredResponse {
  std::string url;
  std::string digest;
  std::string block;
};

// Enough of a WARC reader for good files: header lines up to an empty one, then Content-Length
// bytes.
std::vector<StoredResponse> ReadResponses(std::string_view warc) {
  std::vector<StoredResponse> responses;
  while (warc.starts_with("WARC/")) {
    const std::size_t end = warc.find("\r\n\r\n");
    if (end == warc.npos) break;
    Headers headers;
    for (const std::string_view line : Split(warc.substr(0, end), '\n')) {
      const std::size_t colon = line.find(':');
      if (colon != line.npos) headers.Add(line.substr(0, colon), TrimSpace(line.substr(colon + 1)));
    }
    const auto length = ParseDecimal(headers.Find("Content-Length").value_or(""));
    if (!length || *length > warc.size() - end - 4) break;
    const std::string_view block = warc.substr(end + 4, *length);
    const std::string_view digest = headers.Find("WARC-Payload-Digest").value_or("");
    if (headers.Find("WARC-Type") == "response" && digest.starts_with("sha1:")) {
      responses.push_back({std::string(headers.Find("WARC-Target-URI").value_or("")),
                           std::string(digest.substr(5)), std::string(block)});
    }
    warc.remove_prefix(std::min(warc.size(), end + 4 + *length + 4));
  }
  return responses;
}

// Base32 and hexadecimal are both in use, in either case.
bool Matches(std::string_view stated, std::string_view bytes) {
  const std::string digest = Sha1(bytes);
  return EqualsIgnoreCase(stated, digest) ||
         EqualsIgnoreCase(stated, HexEncode(*Base32Decode(digest)));
}

bool WrittenOverChunks(std::string_view file) {
  return file.find("IAH-urls-wget") != file.npos || file == "example-iana.org-chunked.warc";
}

TEST(StoredRecords, PayloadDigestsOfOtherToolsAgree) {
  if (!std::filesystem::exists(Samples()))
    GTEST_SKIP() << "no foreign sample data at " << Samples();
  int checked = 0;
  int chunked = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Samples())) {
    const std::string name = entry.path().filename();
    if (name.find(".warc") == name.npos || name == "example-trunc.warc") continue;
    for (const StoredResponse& response : ReadResponses(ReadFile(entry.path()))) {
      const Result<ResponseHead> head = ParseResponseHead(response.block);
      if (!head) continue;
      const std::string_view body = std::string_view(response.block).substr(head->head_length);
      const BodyPlan plan = PlanStoredBody(head->headers);
      Payload payload;
      DecodeTransfer(plan, body, payload);
      // wget and warcprox 1.4 took the digest over the chunks as they came.
      const bool of_chunks = plan.framing == BodyFraming::kChunked && WrittenOverChunks(name);
      EXPECT_TRUE(Matches(response.digest, of_chunks ? body : payload.bytes))
          << name << " " << response.url << " " << payload.defects.ToText();
      ++checked;
      chunked += plan.framing == BodyFraming::kChunked;
    }
  }
  EXPECT_GT(checked, 300);
  EXPECT_GT(chunked, 30);
}

TEST(StoredRecords, EveryEncodedPayloadDecodes) {
  if (!std::filesystem::exists(Samples()))
    GTEST_SKIP() << "no foreign sample data at " << Samples();
  const codec::Registry registry = codec::StandardRegistry();
  int decoded = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Samples())) {
    const std::string name = entry.path().filename();
    if (name.find(".warc") == name.npos || name == "example-trunc.warc") continue;
    for (const StoredResponse& response : ReadResponses(ReadFile(entry.path()))) {
      const Result<ResponseHead> head = ParseResponseHead(response.block);
      if (!head) continue;
      Payload payload;
      DecodeTransfer(PlanStoredBody(head->headers),
                     std::string_view(response.block).substr(head->head_length), payload);
      ContentDecoder decoder(registry, ContentCodings(head->headers));
      if (decoder.passes_through()) continue;
      std::string room(1 << 20, '\0');
      std::string_view rest = payload.bytes;
      for (bool done = false; !done;) {
        const ContentDecoder::Step step = decoder.Decode(rest, room, true);
        rest.remove_prefix(step.consumed);
        done = step.done;
      }
      EXPECT_EQ(decoder.defects().ToText(), "") << name << " " << response.url;
      ++decoded;
    }
  }
  EXPECT_GE(decoded, 5);
}

}  // namespace
}  // namespace stele::http
