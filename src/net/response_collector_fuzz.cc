// Any bytes as a response: what is kept is a prefix of what came, odd pieces change nothing, and
// the payload is the one that the decoder gives for the stored bytes.
#include <cstdint>
#include <string>

#include "net/response_collector.h"
#include "util/check.h"

namespace stele::net {
namespace {

struct Outcome {
  FetchResult result;
  bool reusable = false;
};

void Collect(const FetchRequest& request, std::string_view input, std::size_t piece,
             Outcome& outcome) {
  ResponseCollector collector(request, outcome.result, 64);
  std::string rest;
  while (!input.empty() && !collector.done()) {
    collector.OnBytes(input.substr(0, piece));
    input.remove_prefix(std::min(piece, input.size()));
    rest += collector.TakePending();
  }
  if (!collector.done()) collector.OnEnd(ResponseCollector::End::kClosed);
  outcome.reusable = collector.reusable();
  outcome.result.response = SpooledBytes(collector.TakeMemory() + rest + collector.TakePending());
}

void TestOne(std::string_view input, FetchRequest& request) {
  Outcome whole;
  Outcome pieces;
  Collect(request, input, input.size(), whole);
  Collect(request, input, 3, pieces);
  const FetchResult& result = whole.result;
  const std::string_view kept = *result.response.InMemory();
  Check(input.starts_with(result.interim + std::string(kept)));
  Check(result.head_length <= kept.size());
  Check(result.head_length == 0 || result.body_length() <= request.limits.body_size_max);
  Check(!whole.reusable || (result.failure == FetchFailure::kNone &&
                            result.interim.size() + kept.size() == input.size()));
  if (result.failure == FetchFailure::kNone || result.failure == FetchFailure::kNotHttp) {
    std::string joined;
    Check(result.PayloadInMemory(joined)->size() == result.payload_length);
    std::uint64_t size = 0;
    std::string piece(5, '\0');
    const auto source = result.OpenPayload();
    while (const std::size_t got = *source->Read(piece)) size += got;
    Check(size == result.payload_length);
    Check(pieces.result.response.InMemory() == kept);
  }
  Check(pieces.result.failure == result.failure);
  Check(pieces.result.status == result.status);
  Check(pieces.result.head == result.head);
  Check(pieces.result.truncation == result.truncation);
  Check(pieces.result.payload_length == result.payload_length);
}

}  // namespace
}  // namespace stele::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::net;
  if (size < 1) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  FetchRequest request;
  request.method = (data[0] & 1) != 0 ? "HEAD" : "GET";
  if ((data[0] & 2) != 0) request.limits.body_size_max = 40;
  request.limits.head_size_max = 2000;
  TestOne(input, request);
  return 0;
}
