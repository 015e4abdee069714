// Any bytes as a head, as a chunked body and as encoded content: pieces give what the whole gives,
// lengths and views stay within the bytes, and nothing is lost.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/registry.h"
#include "formats/http/body.h"
#include "formats/http/content_decoder.h"
#include "formats/http/media_type.h"
#include "formats/http/message.h"
#include "util/check.h"

namespace stele::http {
namespace {

bool Within(std::string_view view, std::string_view bytes) {
  return view.data() == nullptr ||
         (view.data() >= bytes.data() && view.data() + view.size() <= bytes.data() + bytes.size());
}

void CheckFields(const Headers& headers, std::string_view raw) {
  const char* last = raw.data();
  for (const Field& field : headers.fields()) {
    Check(Within(field.name, raw) && Within(field.value, raw));
    Check(field.value.data() == nullptr || field.value.data() >= last);
    if (field.value.data() != nullptr) last = field.value.data();
    Check(Unfold(field.value).size() <= field.value.size());
    ParseMediaType(field.value);
  }
}

void FuzzResponse(std::string_view bytes, std::size_t step) {
  ResponseParser whole(4096);
  const HeadOutcome outcome = whole.Parse(bytes, true);
  Check(outcome != HeadOutcome::kNeedMore);
  ResponseParser pieces(4096);
  std::size_t size = 0;
  HeadOutcome so_far = HeadOutcome::kNeedMore;
  while (size < bytes.size() && so_far == HeadOutcome::kNeedMore) {
    size = std::min(bytes.size(), size + step);
    so_far = pieces.Parse(bytes.substr(0, size), false);
  }
  if (so_far == HeadOutcome::kNeedMore) so_far = pieces.Parse(bytes, true);
  Check(so_far == outcome);
  if (outcome != HeadOutcome::kComplete) return;
  const ResponseHead& head = whole.head();
  Check(head.head_length <= bytes.size() && Within(head.raw, bytes));
  Check(head.raw.data() + head.raw.size() == bytes.data() + head.head_length);
  Check(pieces.head().head_length == head.head_length && pieces.head().status == head.status);
  Check(pieces.head().defects == head.defects && pieces.head().reason == head.reason);
  Check(pieces.head().interim.size() == head.interim.size());
  for (const InterimHead& interim : head.interim) Check(Within(interim.raw, bytes));
  CheckFields(head.headers, head.raw);
  PlanResponseBody(head, "GET");
}

void FuzzRequest(std::string_view bytes) {
  RequestParser parser(4096);
  if (parser.Parse(bytes, true) != HeadOutcome::kComplete) return;
  const RequestHead& head = parser.head();
  Check(Within(head.target, head.raw) && Within(head.method, head.raw));
  Check(head.head_length <= bytes.size());
  CheckFields(head.headers, head.raw);
  PlanRequestBody(head);
}

void FuzzChunked(std::string_view bytes, std::size_t step_size) {
  const BodyPlan plan{BodyFraming::kChunked, 0, {}};
  Payload whole;
  DecodeTransfer(plan, bytes, whole);
  Check(whole.bytes.size() <= bytes.size());
  TransferDecoder decoder(plan);
  std::string payload;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const TransferDecoder::Step step = decoder.Decode(rest.substr(0, step_size));
    Check(step.consumed > 0 || !step.payload.empty() || step.done);
    payload += step.payload;
    rest.remove_prefix(step.consumed);
    if (step.done) break;
  }
  payload += decoder.Finish();
  Check(payload == whole.bytes && decoder.defects() == whole.defects);
  if (whole.defects.Has(Defect::kNotChunked)) Check(payload == bytes);
}

std::string DecodeContent(const codec::Registry& registry,
                          const std::vector<std::string_view>& codings, std::string_view bytes,
                          std::size_t in_step, std::size_t out_step, Defects& defects) {
  ContentLimits limits;
  limits.size_max = 100000;
  ContentDecoder decoder(registry, codings, limits);
  std::string content;
  std::string room(out_step, '\0');
  for (;;) {
    const std::string_view piece = bytes.substr(0, in_step);
    const ContentDecoder::Step step = decoder.Decode(piece, room, piece.size() == bytes.size());
    Check(step.consumed <= piece.size() && step.produced <= room.size());
    Check(step.done || step.consumed + step.produced > 0);
    content.append(room.data(), step.produced);
    bytes.remove_prefix(step.consumed);
    if (step.done) break;
  }
  defects = decoder.defects();
  Check(content.size() <= limits.size_max || defects.Has(Defect::kWrongCoding));
  return content;
}

void FuzzContent(std::string_view bytes, std::uint8_t kind, std::size_t step) {
  static const codec::Registry registry = codec::StandardRegistry();
  static constexpr std::string_view kNames[] = {"gzip", "deflate", "zstd", "br"};
  std::vector<std::string_view> codings = {kNames[kind % 4]};
  if (kind & 0x10) codings.push_back(kNames[kind / 4 % 4]);
  Defects whole_defects, pieces_defects;
  const std::string whole =
      DecodeContent(registry, codings, bytes, bytes.size() + 1, 65536, whole_defects);
  const std::string pieces =
      DecodeContent(registry, codings, bytes, step, 1 + step * 3, pieces_defects);
  // Where the data is bad, how much comes out before it is noticed depends on the pieces.
  if (whole_defects.empty()) Check(pieces == whole && pieces_defects.empty());
}

}  // namespace
}  // namespace stele::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t step = 1 + data[1] % 64;
  switch (data[0] % 4) {
    case 0:
      stele::http::FuzzResponse(bytes, step);
      break;
    case 1:
      stele::http::FuzzRequest(bytes);
      break;
    case 2:
      stele::http::FuzzChunked(bytes, step);
      break;
    default:
      stele::http::FuzzContent(bytes, data[2], step);
  }
  return 0;
}
