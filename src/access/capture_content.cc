#include "access/capture_content.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/recent_payloads.h"
#include "archive/http_head.h"
#include "archive/revisit_resolver.h"
#include "codec/registry.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using catalog::HeldCapture;

// Payloads up to this are read before the answer begins, so that damage gives an error page.
constexpr std::size_t kReadAtOnce = 256 << 10;
constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::size_t kHeadBytesMax = 48 << 10;

const codec::Registry& Codecs() {
  static const codec::Registry registry = codec::StandardRegistry();
  return registry;
}

ArchivedHead HeadOf(const http::ResponseHead& response) {
  ArchivedHead head;
  head.status = response.status;
  head.reason = CleanValue(response.reason);
  std::size_t bytes = 0;
  for (const http::Field& field : response.headers.fields()) {
    bytes += field.name.size() + field.value.size();
    if (bytes > kHeadBytesMax) break;
    if (!IsFieldName(field.name)) continue;
    head.fields.push_back({std::string(field.name), CleanValue(field.value)});
  }
  return head;
}

struct OwnHead {
  ArchivedHead head;
  // The payload that it repeats came with these, whatever it came with elsewhere.
  std::vector<std::string> codings;
};

// As archive::ReadOwnHead().
std::optional<OwnHead> RevisitHead(archive::StoredRecord& stored) {
  const std::optional<std::string> raw = archive::ReadOwnHead(stored);
  if (!raw) return std::nullopt;
  const Result<http::ResponseHead> head = http::ParseResponseHead(*raw);
  const std::vector<std::string_view> codings = http::ContentCodings(head->headers);
  return OwnHead{HeadOf(*head), {codings.begin(), codings.end()}};
}

}  // namespace

Error Unreadable(const Snapshot& snapshot, const HeldCapture& capture, const Error& error) {
  const archive::Container* container = snapshot.view.holdings().Find(capture.row.place.container);
  // So errors begin that come from the machine where a volume is.
  const bool is_away = container != nullptr &&
                       (error.code == ErrorCode::kBusy ||
                        (error.code == ErrorCode::kIo &&
                         error.text.find(fmt::format("volume {} of the archive: ",
                                                     container->volume)) != std::string::npos));
  if (is_away) {
    return Error{
        ErrorCode::kBusy,
        fmt::format("The capture of {} from {} is in the volume {}, which cannot be reached "
                    "now. Try again later. Who keeps this archive: look whether the "
                    "servers that the connector of this volume names run (stele store "
                    "serve).",
                    capture.row.url, FormatIso(capture.row.time), container->volume)};
  }
  const std::string file = container == nullptr ? "a file that this archive does not know"
                                                : fmt::format("the file {}", container->name);
  const std::string_view what = error.code == ErrorCode::kNotFound ? "is missing"
                                : error.code == ErrorCode::kIo     ? "cannot be read"
                                                                   : "is damaged there";
  return Error{error.code == ErrorCode::kNotFound ? ErrorCode::kIo : error.code,
               fmt::format("The capture of {} from {} is listed, but {}, which holds it, {}. Run "
                           "stele verify.",
                           capture.row.url, FormatIso(capture.row.time), file, what)};
}

std::string_view ArchivedHead::Find(std::string_view name) const {
  for (const net::HeaderField& field : fields) {
    if (EqualsIgnoreCase(field.name, name)) return field.value;
  }
  return "";
}

std::string CleanValue(std::string_view value) {
  std::string clean(TrimSpace(value));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return clean;
}

bool IsFieldName(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return IsAsciiAlnum(c) || kMarks.find(c) != std::string_view::npos;
  });
}

Result<std::unique_ptr<CaptureContent>> CaptureContent::Open(const Sight& sight,
                                                             const HeldCapture& capture,
                                                             const KeepsCoding& keeps) {
  std::unique_ptr<CaptureContent> content(new CaptureContent(sight.snapshot()));
  HeldCapture held = capture;
  std::optional<OwnHead> own;
  if (catalog::IsRevisit(capture.row)) {
    Result<std::unique_ptr<archive::StoredRecord>> revisit = sight.view().Open(capture.row);
    if (!revisit) return Unreadable(*sight.snapshot(), capture, revisit.error());
    own = RevisitHead(**revisit);
    Result<HeldCapture> original = archive::RevisitResolver(sight.view()).Resolve(capture);
    if (!original) return original.error();
    held = *std::move(original);
    if (!sight.Shows(KeyOfCapture(held.row), held.row)) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("{} of {} repeats a capture that may not be shown", capture.row.url,
                               FormatIso(capture.row.time))};
    }
  }
  const Status begun = content->Begin(held, own ? &own->codings : nullptr, keeps);
  if (!begun) return Unreadable(*sight.snapshot(), held, begun.error());
  if (own) content->head_ = std::move(own->head);
  if (sight.has_rules()) {
    content->may_be_taken_ = sight.Gives(KeyOfCapture(capture.row), capture.row) &&
                             sight.Gives(KeyOfCapture(held.row), held.row);
  }
  return content;
}

Status CaptureContent::Begin(const HeldCapture& content,
                             const std::vector<std::string>* own_codings,
                             const KeepsCoding& keeps) {
  if (const auto recent = snapshot_->recent->Find(content.row.id)) {
    head_ = recent->head;
    payload_ = recent->payload;
    ended_ = true;
    const std::vector<std::string>& codings = own_codings ? *own_codings : recent->codings;
    TakeOff({codings.begin(), codings.end()}, keeps);
    if (!decoder_) length_ = payload_.size();
    return {};
  }
  Result<std::unique_ptr<archive::CaptureBlock>> block =
      archive::CaptureBlock::Open(snapshot_->view, content.row);
  if (!block) return block.error();
  block_ = *std::move(block);
  stream_.Begin(block_->record());
  while (!stream_.head_is_known() && !ended_) {
    if (const Status pumped = Pump(); !pumped) return pumped;
  }
  std::vector<std::string_view> codings;
  if (const http::ResponseHead* response = stream_.response()) {
    head_ = HeadOf(*response);
    codings = http::ContentCodings(response->headers);
  } else {
    head_.fields.push_back({"Content-Type", CleanValue(block_->record().content_type)});
  }
  TakeOff(own_codings == nullptr
              ? codings
              : std::vector<std::string_view>(own_codings->begin(), own_codings->end()),
          keeps);
  if (const Status pumped = Pump(kReadAtOnce); !pumped) return pumped;
  if (!decoder_ && ended_) {
    length_ = payload_.size();
  } else if (!decoder_ && !block_->is_segmented()) {
    length_ = content.row.length;
  }
  const bool is_small = payload_.size() <= RecentPayloads::kPayloadBytesMax &&
                        codings.size() <= http::ContentDecoder::kCodingsMax;
  if (ended_ && content.row.sha256 && is_small) {
    snapshot_->recent->Keep(content.row.id, {head_, {codings.begin(), codings.end()}, payload_});
  }
  return {};
}

void CaptureContent::TakeOff(std::vector<std::string_view> codings, const KeepsCoding& keeps) {
  std::erase_if(codings, [](std::string_view one) { return EqualsIgnoreCase(one, "identity"); });
  if (codings.size() == 1 && keeps(codings[0])) {
    coding_ = CleanValue(codings[0]);
  } else if (!codings.empty()) {
    decoder_ = std::make_unique<http::ContentDecoder>(Codecs(), codings);
    if (decoder_->passes_through()) decoder_.reset();
  }
}

void CaptureContent::OnPayload(std::string_view piece) { payload_ += piece; }

Status CaptureContent::Pump() {
  const Result<std::string_view> piece = block_->Read();
  if (!piece) return piece.error();
  if (!piece->empty()) {
    stream_.Feed(*piece, this);
    return {};
  }
  stream_.Finish(this);
  ended_ = true;
  return {};
}

// Until more than `wanted` bytes wait, or all is there.
Status CaptureContent::Pump(std::size_t wanted) {
  if (at_ > kPieceBytes) {
    payload_.erase(0, at_);
    at_ = 0;
  }
  while (!ended_ && waiting() <= wanted) {
    if (const Status pumped = Pump(); !pumped) return pumped;
  }
  return {};
}

Result<std::size_t> CaptureContent::Read(std::span<char> out) {
  if (decoder_) return Decode(out);
  if (const Status pumped = Pump(out.size()); !pumped) return pumped.error();
  const std::size_t size = std::min(out.size(), waiting());
  payload_.copy(out.data(), size, at_);
  at_ += size;
  return size;
}

Result<std::size_t> CaptureContent::Decode(std::span<char> out) {
  for (;;) {
    if (const Status pumped = Pump(kPieceBytes); !pumped) return pumped.error();
    if (decoded_) {
      // The rest is only compared with its digest.
      at_ = payload_.size();
      if (ended_) return std::size_t{0};
      continue;
    }
    const http::ContentDecoder::Step step =
        decoder_->Decode(std::string_view(payload_).substr(at_), out, ended_);
    at_ += step.consumed;
    decoded_ = step.done || (ended_ && step.consumed == 0 && step.produced == 0);
    if (step.produced > 0) return step.produced;
  }
}

Result<std::string> CaptureContent::ReadAll(std::size_t size_max) {
  std::string all;
  for (;;) {
    const std::size_t before = all.size();
    all.resize(before + kPieceBytes);
    Result<std::size_t> size = Read(std::span(all).subspan(before));
    if (!size) return size.error();
    all.resize(before + *size);
    if (*size == 0) return all;
    if (all.size() > size_max) {
      return Error{ErrorCode::kFull, fmt::format("it has more than {} bytes", size_max)};
    }
  }
}

}  // namespace stele::access
