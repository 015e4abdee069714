#include "formats/http/body.h"

#include <optional>

#include "util/ascii.h"

namespace stele::http {
namespace {

struct TransferCodings {
  bool chunked = false;
  bool any = false;
};

TransferCodings ReadTransferCodings(const Headers& headers, Defects& defects) {
  TransferCodings codings;
  for (const std::string_view coding : headers.List("Transfer-Encoding")) {
    if (EqualsIgnoreCase(coding, "identity")) continue;
    if (codings.chunked) defects.Add(Defect::kChunkedNotLast);
    codings.any = true;
    codings.chunked = EqualsIgnoreCase(coding, "chunked");
    if (!codings.chunked) defects.Add(Defect::kOtherTransferCoding);
  }
  return codings;
}

std::optional<std::uint64_t> ReadLength(const Headers& headers, Defects& defects) {
  std::optional<std::uint64_t> length;
  bool usable = true;
  for (const std::string_view value : headers.FindAll("Content-Length")) {
    for (const std::string_view part : Split(value, ',')) {
      const std::optional<std::uint64_t> one = ParseDecimal(TrimSpace(part));
      if (!one) {
        defects.Add(Defect::kLengthInvalid);
        usable = false;
      } else if (length) {
        const bool same = *length == *one;
        defects.Add(same ? Defect::kLengthRepeated : Defect::kLengthsDiffer);
        usable &= same;
      }
      if (one && !length) length = one;
    }
  }
  return usable ? length : std::nullopt;
}

// What the headers alone say. `without`: the framing when they say nothing.
BodyPlan PlanByHeaders(const Headers& headers, BodyFraming without) {
  BodyPlan plan;
  const TransferCodings codings = ReadTransferCodings(headers, plan.defects);
  const std::optional<std::uint64_t> length = ReadLength(headers, plan.defects);
  if (codings.any) {
    if (headers.Find("Content-Length")) plan.defects.Add(Defect::kLengthAndChunked);
    plan.framing = codings.chunked ? BodyFraming::kChunked : BodyFraming::kUntilClose;
  } else if (length) {
    plan.framing = BodyFraming::kLength;
    plan.length = *length;
  } else {
    plan.framing = headers.Find("Content-Length") ? BodyFraming::kUntilClose : without;
  }
  return plan;
}

}  // namespace

BodyPlan PlanResponseBody(const ResponseHead& head, std::string_view request_method) {
  BodyPlan plan = PlanByHeaders(head.headers, BodyFraming::kUntilClose);
  const bool tunnel = request_method == "CONNECT" && head.status >= 200 && head.status < 300;
  const bool bodiless = (head.status >= 100 && head.status < 200) || head.status == 204 ||
                        head.status == 304 || request_method == "HEAD";
  if (tunnel || bodiless) {
    plan.framing = BodyFraming::kNone;
    plan.length = 0;
  }
  return plan;
}

BodyPlan PlanRequestBody(const RequestHead& head) {
  return PlanByHeaders(head.headers, BodyFraming::kNone);
}

BodyPlan PlanStoredBody(const Headers& headers) {
  BodyPlan plan = PlanByHeaders(headers, BodyFraming::kUntilClose);
  if (plan.framing == BodyFraming::kLength) plan.framing = BodyFraming::kUntilClose;
  plan.length = 0;
  return plan;
}

}  // namespace stele::http
