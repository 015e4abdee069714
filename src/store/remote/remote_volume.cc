#include "store/remote/remote_volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "io/part_source.h"
#include "store/packed_content.h"
#include "store/remote/remote_content.h"
#include "store/volume_rules.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFrozenAskAgain{5'000};
// Contents up to this size are kept until they are stored, so that they can be sent again.
constexpr std::uint64_t kRepeatedSizeMax = 1 << 20;
// Smaller contents hardly shrink.
constexpr std::size_t kPackedBytesMin = 256;
constexpr int kBehindTheEnd = 416;  // status of a range

std::int64_t NowMs() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int Strictness(VolumeState state) {
  switch (state) {
    case VolumeState::kWritable:
      return 0;
    case VolumeState::kFull:
      return 1;
    case VolumeState::kReadOnly:
      return 2;
    case VolumeState::kFrozen:
      break;
  }
  return 3;
}

std::string ContentPath(const ContentKey& key) {
  return "/contents/" + BlockName(key.signature, key.overflow);
}

// Tells errors of the content, which are the caller's, from those of the network.
class WatchedContent final : public io::Source {
 public:
  explicit WatchedContent(io::Source& content) : content_(content) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = content_.Read(out);
    if (!read) failure_ = read.error();
    return read;
  }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  io::Source& content_;
  std::optional<Error> failure_;
};

// More than a server has to say is no answer.
Result<std::string> ReadAnswer(net::ClientResponse& response,
                               std::size_t size_max = wire::kAnswerSizeMax) {
  Result<std::string> answer = response.ReadAll(size_max);
  if (!answer && answer.error().code == ErrorCode::kFull) {
    return Error{ErrorCode::kCorrupt, "the answer is far too long"};
  }
  return answer;
}

}  // namespace

RemoteVolume::RemoteVolume(net::HttpClient& client, Options options)
    : client_(client), options_(std::move(options)) {
  Check(options_.signature != nullptr && IsVolumeName(options_.name));
}

// Errors of the connection begin with the server's address already.
Error RemoteVolume::Named(const Error& error) const {
  const std::string where = options_.endpoint.ToText() + ": ";
  const std::string_view text = error.text;
  return {error.code, fmt::format("volume {} at {}{}", options_.name, where,
                                  text.starts_with(where) ? text.substr(where.size()) : text)};
}

net::ClientRequest RemoteVolume::NewRequest(std::string method, const std::string& target) const {
  net::ClientRequest request;
  request.endpoint = options_.endpoint;
  request.method = std::move(method);
  request.target = "/v1/volumes/" + options_.name + target;
  request.total_timeout = options_.total_timeout;
  if (!options_.token.empty()) {
    request.fields.push_back({"Authorization", "Bearer " + options_.token});
  }
  return request;
}

void RemoteVolume::NoteState(const net::ClientResponse& response) const {
  const auto named = response.head().headers.Find(wire::kStateHeader);
  const auto state = named ? VolumeStateByName(*named) : std::nullopt;
  if (!state) return;
  told_ms_ = NowMs();
  told_ = *state;
}

Result<RemoteVolume::Response> RemoteVolume::Send(const net::ClientRequest& request,
                                                  int also) const {
  Result<Response> response = client_.Send(request);
  if (!response) return response;
  NoteState(**response);
  const int status = (*response)->status();
  if ((status >= 200 && status < 300) || status == also) return response;
  const Result<std::string> body = ReadAnswer(**response);
  if (!body) return body.error();
  Error error = wire::ErrorFrom(*body);
  // A status without our JSON may come from the HTTP server itself, or from something between.
  if (error.code == ErrorCode::kCorrupt && status == 503) error.code = ErrorCode::kBusy;
  if (error.code == ErrorCode::kCorrupt) error.text += fmt::format(" (status {})", status);
  return error;
}

Result<std::string> RemoteVolume::Ask(net::ClientRequest request, std::size_t size_max) const {
  request.repeatable = true;
  const auto begin = std::chrono::steady_clock::now();
  const auto once = [&]() -> Result<std::string> {
    Result<Response> response = Send(request);
    if (!response) return response.error();
    return ReadAnswer(**response, size_max);
  };
  Result<std::string> answer = once();
  if (!answer && answer.error().code == ErrorCode::kIo) {
    const auto spent =
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    if (spent < options_.total_timeout) {
      request.total_timeout = options_.total_timeout - spent;
      answer = once();
    }
  }
  if (!answer) return Named(answer.error());
  return answer;
}

VolumeState RemoteVolume::state() const {
  if (options_.state == VolumeState::kFrozen) return options_.state;
  if (told_ == VolumeState::kFrozen && NowMs() - told_ms_ > kFrozenAskAgain.count()) {
    told_ms_ = NowMs();
    static_cast<void>(Ask(NewRequest("GET", "/state")).ok());  // notes the state
  }
  const VolumeState told = told_;
  return Strictness(told) > Strictness(options_.state) ? told : options_.state;
}

Status RemoteVolume::SetState(VolumeState state) {
  const wire::Query query{{"state", std::string(VolumeStateName(state))}};
  const Result<std::string> answer = Ask(NewRequest("PUT", "/state?" + wire::FormatQuery(query)));
  if (!answer) return answer.error();
  return {};
}

Result<Lookup> RemoteVolume::Reference(const StoreRequest& request) {
  net::ClientRequest sent =
      NewRequest("POST", "/references?" + wire::FormatQuery(wire::QueryOf(request)));
  AddEpoch(sent, request.home.epoch);
  const Result<std::string> answer = Ask(std::move(sent));
  if (!answer) return answer.error();
  Result<Lookup> found = wire::LookupFrom(*answer, options_.name, request.signature);
  if (!found) return Named(found.error());
  return found;
}

Result<Stored> RemoteVolume::Store(const StoreRequest& request, io::Source& content) {
  net::ClientRequest sent =
      NewRequest("POST", "/contents?" + wire::FormatQuery(wire::QueryOf(request)));
  AddEpoch(sent, request.home.epoch);
  if (request.size > kRepeatedSizeMax) return StoreLarge(request, content, std::move(sent));
  std::string bytes(static_cast<std::size_t>(request.size) + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const Result<std::size_t> read = content.Read(std::span(bytes).subspan(size));
    if (!read) return read.error();
    if (*read == 0) break;
    size += *read;
  }
  if (size != request.size) {
    return Named({ErrorCode::kInvalid, "the content does not have the size of the request"});
  }
  bytes.resize(size);
  const std::string packed = Pack(request, bytes, sent);
  sent.body = packed.empty() ? bytes : packed;
  const Result<std::string> answer = Ask(std::move(sent));
  if (!answer) return answer.error();
  Result<Stored> stored = wire::StoredFrom(*answer, options_.name, request.signature);
  if (!stored) return Named(stored.error());
  return stored;
}

std::optional<Compression> RemoteVolume::PackingOf(const std::string& media_type,
                                                   const std::string& codec) const {
  Compression compression = CompressionTable().Choose(media_type, codec);
  if (!options_.packs || WireCodec(compression.codec) == nullptr) return {};
  return compression;
}

// Nothing where it would not be smaller.
std::string RemoteVolume::Pack(const StoreRequest& request, std::string_view content,
                               net::ClientRequest& sent) {
  const std::optional<Compression> packing = PackingOf(request.media_type, request.codec);
  if (!packing || content.size() < kPackedBytesMin) return {};
  std::string packed;
  if (packing->codec == "gzip") {
    std::unique_ptr<codec::BlockDeflater> deflater = deflaters_.Take(packing->level);
    packed = PackGzip(content, *deflater);
    deflaters_.Give(std::move(deflater));
  } else if (Result<std::string> made =
                 WireCodec(packing->codec)->Compress(content, packing->level)) {
    packed = *std::move(made);
  }
  if (packed.size() >= content.size()) return {};
  if (!packed.empty()) sent.fields.push_back({"Content-Encoding", packing->codec});
  return packed;
}

Result<std::string> RemoteVolume::SendStream(net::ClientRequest sent, std::uint64_t size,
                                             io::Source& content,
                                             const std::optional<Compression>& packing) const {
  WatchedContent watched(content);
  std::optional<PackedSource> packed;
  sent.body_source = &watched;
  if (packing) {
    sent.body_source = &packed.emplace(watched, size, *packing);
    sent.fields.push_back({"Content-Encoding", packing->codec});
    sent.fields.push_back({std::string(wire::kContentSizeHeader), std::to_string(size)});
  } else {
    sent.body_length = size;
  }
  Result<Response> response = Send(sent);
  Result<std::string> answer = response ? ReadAnswer(**response) : response.error();
  if (watched.failure()) return *watched.failure();
  if (!answer) return Named(answer.error());
  return answer;
}

// The bytes can be read once only. Where the answer to them is lost, the first step of a store with
// the same operation id tells whether the operation was done.
Result<Stored> RemoteVolume::StoreLarge(const StoreRequest& request, io::Source& content,
                                        net::ClientRequest sent) {
  const Result<std::string> answer = SendStream(std::move(sent), request.size, content,
                                                PackingOf(request.media_type, request.codec));
  if (answer) {
    Result<Stored> stored = wire::StoredFrom(*answer, options_.name, request.signature);
    if (!stored) return Named(stored.error());
    return stored;
  }
  if (answer.error().code != ErrorCode::kIo) return answer.error();
  const Result<Lookup> found = Reference(request);
  if (!found || found->outcome != Lookup::Outcome::kReferenced) return answer.error();
  return Stored{*found->key, false};
}

// As a volume compresses what has no media type: that is not known here.
Status RemoteVolume::Restore(const ContentKey& key, std::uint64_t size, io::Source& content) {
  const Result<std::string> answer =
      SendStream(NewRequest("PUT", ContentPath(key)), size, content, PackingOf("", ""));
  return answer ? Status() : Status(answer.error());
}

Result<std::unique_ptr<io::Source>> RemoteVolume::Retrieve(const ContentKey& key) {
  net::ClientRequest request = NewRequest("GET", ContentPath(key));
  request.fields.push_back({"Accept-Encoding", std::string(RemoteContent::kAcceptedCodings)});
  Result<Response> response = Send(request);
  if (!response && response.error().code == ErrorCode::kIo) response = Send(request);
  if (!response) return Named(response.error());
  return RemoteContent::Open(*std::move(response),
                             fmt::format("{} at {}", key.Text(), options_.endpoint.ToText()), key,
                             options_.signature);
}

Result<std::unique_ptr<io::Source>> RemoteVolume::RetrieveRange(const ContentKey& key,
                                                                std::uint64_t offset,
                                                                std::uint64_t length) {
  if (length == 0) return std::unique_ptr<io::Source>(std::make_unique<io::MemorySource>(""));
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - offset;
  net::ClientRequest request = NewRequest("GET", ContentPath(key));
  request.fields.push_back(
      {"Range", fmt::format("bytes={}-{}", offset, offset + std::min(length - 1, most))});
  Result<Response> response = Send(request, kBehindTheEnd);
  if (!response && response.error().code == ErrorCode::kIo) {
    response = Send(request, kBehindTheEnd);
  }
  if (!response) return Named(response.error());
  if ((*response)->status() == kBehindTheEnd) {
    return std::unique_ptr<io::Source>(std::make_unique<io::MemorySource>(""));
  }
  const auto sent = (*response)->head().headers.Find("Content-Range");
  if ((*response)->status() != 206 || !sent ||
      !sent->starts_with(fmt::format("bytes {}-", offset))) {
    return Named({ErrorCode::kCorrupt, "the server does not send parts of contents"});
  }
  return std::unique_ptr<io::Source>(
      std::make_unique<io::PartSource>(*std::move(response), 0, length));
}

Status RemoteVolume::Delete(const ContentKey& key, const Operation& operation) {
  const Status good = CheckOperation(operation);
  if (!good) return Named(good.error());
  const Result<std::string> answer = Ask(
      NewRequest("DELETE", ContentPath(key) + "?" + wire::FormatQuery(wire::QueryOf(operation))));
  if (!answer) return answer.error();
  return {};
}

Result<BlockInfo> RemoteVolume::Stat(const ContentKey& key) {
  const Result<std::string> answer = Ask(NewRequest("GET", ContentPath(key) + "/info"));
  if (!answer) return answer.error();
  Result<BlockInfo> info = wire::InfoFrom(*answer);
  if (!info) return Named(info.error());
  return info;
}

Result<VolumeStats> RemoteVolume::Stats() {
  const Result<std::string> answer = Ask(NewRequest("GET", ""));
  if (!answer) return answer.error();
  Result<VolumeStats> stats = wire::StatsFrom(*answer);
  if (!stats) return Named(stats.error());
  return stats;
}

}  // namespace stele::store
