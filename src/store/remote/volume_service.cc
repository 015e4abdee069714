#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/http/accept_encoding.h"
#include "net/byte_range.h"
#include "store/packed_content.h"
#include "store/remote/volume_service_call.h"
#include "store/remote/wire.h"
#include "util/ascii.h"
#include "util/digest.h"
#include "util/json.h"
#include "util/secret.h"

namespace stele::store {
namespace {

constexpr std::string_view kPrefix = "/v1/volumes/";
constexpr std::size_t kLookupLineMax = 160;

// The next segment of a path; `path` is then what follows its '/'.
std::string_view TakeSegment(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return segment;
}

// Remembers whether it was the client that failed.
class ClientBody final : public io::Source {
 public:
  explicit ClientBody(io::Source& body) : body_(body) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = body_.Read(out);
    failed_ |= !read.ok();
    return read;
  }
  bool failed() const { return failed_; }

 private:
  io::Source& body_;
  bool failed_ = false;
};

}  // namespace

Result<std::string> VolumeService::Call::ReadBody(std::size_t size_max) {
  std::string text;
  std::string piece(16 << 10, '\0');
  for (;;) {
    const Result<std::size_t> read = request.body().Read(piece);
    if (!read) return read.error();
    if (*read == 0) return text;
    if (*read > size_max - text.size()) {
      return Error{ErrorCode::kInvalid, fmt::format("the body has more than {} bytes", size_max)};
    }
    text.append(piece, 0, *read);
  }
}

VolumeService::VolumeService(std::vector<MemberVolume*> volumes, Options options)
    : volumes_(std::move(volumes)), options_(std::move(options)) {
  for (const OwnerRule& rule : options_.owners) {
    OwnerView& view = owners_.emplace_back(OwnerView{rule, {}});
    for (Volume* volume : volumes_) {
      view.volumes.push_back(std::make_unique<OwnedVolume>(*volume, rule.owner, rule.quota));
    }
  }
}

bool VolumeService::Identify(Call& call) const {
  if (options_.token.empty() && owners_.empty()) return true;
  std::string_view sent = call.request.head().headers.Find("Authorization").value_or("");
  constexpr std::string_view kBearer = "Bearer ";
  if (!StartsWithIgnoreCase(sent, kBearer)) return false;
  sent.remove_prefix(kBearer.size());
  if (!options_.token.empty() && SameSecret(sent, options_.token)) return true;
  const Digest hash = DigestOf(DigestAlgorithm::kSha256, sent);
  for (const OwnerView& view : owners_) {
    if (SameSecret(hash.bytes(), view.rule.token_sha256)) call.owner = &view;
  }
  return call.owner != nullptr;
}

// What a volume would refuse an owner as a wrong request is forbidden here, and says so.
bool VolumeService::Allowed(Call& call, std::string_view what) const {
  if (call.owner == nullptr) return true;
  const auto named = call.query.find("owner");
  const bool mine = named == call.query.end() || named->second == call.owner->rule.owner;
  const bool get = call.method() == "GET" || call.method() == "HEAD";
  return mine && !what.empty() && (what != "state" || get);
}

void VolumeService::Handle(net::Request& request, net::ResponseWriter& response) {
  Call call{request, response};
  if (request.path() == "/v1/health") return Health(call);
  if (!Identify(call)) {
    net::ResponseStart start = call.StartOf(401, Call::kJson);
    start.fields.push_back({"WWW-Authenticate", "Bearer"});
    const std::string json = wire::ErrorJson("invalid", "the token is missing or wrong");
    static_cast<void>(response.Reply(start, json).ok());
    return;
  }
  Result<wire::Query> query = wire::ParseQuery(request.query());
  if (!query) return call.Fail(query.error());
  call.query = *std::move(query);
  if (const auto sent = request.head().headers.Find(wire::kEpochHeader)) {
    const auto epoch = ParseDecimal(*sent);
    if (!epoch) return call.Fail({ErrorCode::kInvalid, "header Stele-Epoch must be a number"});
    call.epoch = *epoch;
  }
  Route(call);
}

void VolumeService::Route(Call& call) {
  std::string_view path = call.request.path();
  if (!path.starts_with(kPrefix)) {
    return call.Fail({ErrorCode::kNotFound, "there is nothing at this path"});
  }
  path.remove_prefix(kPrefix.size());
  const std::string_view name = TakeSegment(path);
  for (std::size_t i = 0; i < volumes_.size(); ++i) {
    if (volumes_[i]->name() != name) continue;
    call.member = volumes_[i];
    call.volume = volumes_[i];
    if (call.owner != nullptr) call.volume = call.owner->volumes[i].get();
  }
  if (call.volume == nullptr) {
    return call.Fail({ErrorCode::kNotFound, "there is no such volume here"});
  }
  const std::string_view what = TakeSegment(path);
  if (!Allowed(call, what)) {
    return call.Reply(403, wire::ErrorJson("invalid", "this is not for the owner of the token"));
  }
  if (what == "contents" && !path.empty()) {
    const std::string_view block = TakeSegment(path);
    return RouteContent(call, block, path);
  }
  const bool get = call.method() == "GET" || call.method() == "HEAD";
  const bool post = call.method() == "POST";
  if (path.empty() && what.empty()) return get ? Stats(call) : call.RefuseMethod("GET, HEAD");
  if (path.empty() && what == "state") return State(call);
  if (path.empty() && what == "references") {
    return post ? Reference(call) : call.RefuseMethod("POST");
  }
  if (path.empty() && what == "contents") {
    if (get) return List(call);
    return post ? Store(call) : call.RefuseMethod("GET, HEAD, POST");
  }
  if (path.empty() && what == "owners") return get ? Owners(call) : call.RefuseMethod("GET, HEAD");
  if (path.empty() && what == "lookup") return post ? LookUp(call) : call.RefuseMethod("POST");
  if (RouteMember(call, what, path)) return;
  call.Fail({ErrorCode::kNotFound, "there is nothing at this path"});
}

void VolumeService::RouteContent(Call& call, std::string_view name, std::string_view rest) {
  const std::optional<BlockId> block = ParseBlockName(name);
  if (!block) {
    return call.Fail({ErrorCode::kInvalid, "a content is named SIGNATURE or SIGNATURE.NUMBER"});
  }
  const ContentKey key{call.volume->name(), block->signature, block->overflow};
  const bool get = call.method() == "GET" || call.method() == "HEAD";
  if (rest == "info") return get ? Stat(call, key) : call.RefuseMethod("GET, HEAD");
  if (rest == "held") return get ? Held(call, key) : call.RefuseMethod("GET, HEAD");
  if (rest == "operations") return get ? Operations(call, key) : call.RefuseMethod("GET, HEAD");
  if (rest == "references") {
    return call.method() == "POST" ? Refer(call, key) : call.RefuseMethod("POST");
  }
  if (!rest.empty()) return call.Fail({ErrorCode::kNotFound, "there is nothing at this path"});
  if (call.method() == "DELETE") return Delete(call, key);
  if (call.method() == "PUT") return Restore(call, key);
  return get ? Retrieve(call, key) : call.RefuseMethod("GET, HEAD, PUT, DELETE");
}

void VolumeService::Health(Call& call) {
  std::string json = "{\"status\": \"ok\", \"volumes\": [";
  for (const Volume* volume : volumes_) {
    if (volume != volumes_.front()) json += ", ";
    AppendJsonString(json, volume->name());
  }
  call.Reply(200, json + "]}\n");
}

void VolumeService::Stats(Call& call) {
  const Result<VolumeStats> stats = call.volume->Stats();
  if (!stats) return call.Fail(stats.error());
  call.Reply(200, wire::StatsJson(call.volume->name(), call.volume->state(), *stats));
}

void VolumeService::State(Call& call) {
  if (call.method() == "PUT") {
    const auto named = call.query.find("state");
    const auto state = named == call.query.end() ? std::nullopt : VolumeStateByName(named->second);
    if (!state) {
      return call.Fail(
          {ErrorCode::kInvalid, "parameter 'state' must be writable, read-only or frozen"});
    }
    const Status set = call.volume->SetState(*state);
    if (!set) return call.Fail(set.error());
  } else if (call.method() != "GET" && call.method() != "HEAD") {
    return call.RefuseMethod("GET, HEAD, PUT");
  }
  call.Reply(200, fmt::format("{{\"volume\": \"{}\", \"state\": \"{}\"}}\n", call.volume->name(),
                              VolumeStateName(call.volume->state())));
}

void VolumeService::Reference(Call& call) {
  Result<StoreRequest> wanted = wire::StoreRequestFrom(call.query);
  if (!wanted) return call.Fail(wanted.error());
  wanted->home.epoch = call.epoch;
  const Result<Lookup> found = call.volume->Reference(*wanted);
  if (!found) return call.Fail(found.error());
  call.Reply(200, wire::LookupJson(*found));
}

void VolumeService::Store(Call& call) {
  Result<StoreRequest> wanted = wire::StoreRequestFrom(call.query);
  if (!wanted) return call.Fail(wanted.error());
  wanted->home.epoch = call.epoch;
  if (const auto coding = call.request.head().headers.Find("Content-Encoding")) {
    if (WireCodec(*coding) == nullptr) {
      return call.Fail({ErrorCode::kInvalid, "a content can be sent as gzip or zstd"});
    }
    wanted->packed = *coding;
  }
  const std::optional<std::uint64_t> length = call.request.body_length();
  if (wanted->packed.empty() && length && *length != wanted->size) {
    return call.Fail({ErrorCode::kInvalid, "the body does not have the size of the request"});
  }
  ClientBody body(call.request.body());
  const Result<Stored> stored = call.volume->Store(*wanted, body);
  if (!stored && body.failed()) return;  // the server answers for what the client did
  if (!stored) return call.Fail(stored.error());
  call.Reply(stored->is_new ? 201 : 200, wire::StoredJson(*stored));
}

void VolumeService::Restore(Call& call, const ContentKey& key) {
  const http::Headers& headers = call.request.head().headers;
  const std::string_view coding = headers.Find("Content-Encoding").value_or("");
  std::optional<std::uint64_t> size = call.request.body_length();
  if (!coding.empty()) size = ParseDecimal(headers.Find(wire::kContentSizeHeader).value_or(""));
  if (!size) {
    return call.Fail({ErrorCode::kInvalid,
                      "the body needs a Content-Length, or where it is compressed a header "
                      "Stele-Content-Size"});
  }
  ClientBody body(call.request.body());
  const Result<std::unique_ptr<io::Source>> decoded = DecodedContent(body, coding, *size);
  if (!decoded) return call.Fail(decoded.error());
  const Status restored = call.volume->Restore(key, *size, *decoded ? **decoded : body);
  if (!restored && body.failed()) return;
  if (!restored) return call.Fail(restored.error());
  static_cast<void>(call.response.Reply(call.StartOf(204, ""), "").ok());
}

void VolumeService::Retrieve(Call& call, const ContentKey& key) {
  net::ResponseStart start = call.StartOf(200, "application/octet-stream");
  start.fields.push_back({"ETag", '"' + BlockName(key.signature, key.overflow) + '"'});
  start.fields.push_back({"Vary", "Accept-Encoding"});
  // Contents of strangers are not for browsers to interpret.
  start.fields.push_back({"X-Content-Type-Options", "nosniff"});
  start.fields.push_back({"Accept-Ranges", "bytes"});
  const auto range = call.request.head().headers.Find("Range");
  if (range && call.method() == "GET") {
    if (SendRange(call, key, *range, start)) return;
  } else if (http::AcceptsCoding(call.request.head().headers, "gzip")) {
    Result<PackedContent> packed = call.volume->RetrievePacked(key);
    if (!packed) return call.Fail(packed.error());
    if (http::AcceptsCoding(call.request.head().headers, packed->coding)) {
      start.fields.push_back({"Content-Encoding", packed->coding});
      start.fields.push_back({std::string(wire::kContentSizeHeader), std::to_string(packed->size)});
      start.length = packed->packed_size;
      static_cast<void>(call.response.SendFrom(start, std::move(packed->bytes)).ok());
      return;
    }
  }
  const Result<BlockInfo> info = call.volume->Stat(key);
  if (!info) return call.Fail(info.error());
  start.length = info->size;
  if (call.method() == "HEAD") {
    static_cast<void>(call.response.Start(start).ok());
    return;
  }
  Result<std::unique_ptr<io::Source>> content = call.volume->Retrieve(key);
  if (!content) return call.Fail(content.error());
  static_cast<void>(call.response.SendFrom(start, *std::move(content)).ok());
}

bool VolumeService::SendRange(Call& call, const ContentKey& key, std::string_view asked,
                              net::ResponseStart start) {
  const Result<BlockInfo> info = call.volume->Stat(key);
  if (!info) {
    call.Fail(info.error());
    return true;
  }
  net::ByteRange range;
  const net::RangeOutcome outcome = net::ParseRange(asked, info->size, range);
  if (outcome == net::RangeOutcome::kNone) return false;
  if (outcome == net::RangeOutcome::kUnsatisfiable) {
    start = call.StartOf(416, Call::kJson);
    start.fields.push_back({"Content-Range", fmt::format("bytes */{}", info->size)});
    const std::string json =
        wire::ErrorJson("invalid", fmt::format("the content has {} bytes", info->size));
    static_cast<void>(call.response.Reply(start, json).ok());
    return true;
  }
  start.status = 206;
  start.length = range.end - range.begin;
  start.fields.push_back(
      {"Content-Range", fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, info->size)});
  Result<std::unique_ptr<io::Source>> part =
      call.volume->RetrieveRange(key, range.begin, *start.length);
  if (!part) {
    call.Fail(part.error());
    return true;
  }
  static_cast<void>(call.response.SendFrom(start, *std::move(part)).ok());
  return true;
}

void VolumeService::Delete(Call& call, const ContentKey& key) {
  const Result<Operation> operation = wire::OperationFrom(call.query);
  if (!operation) return call.Fail(operation.error());
  const Status deleted = call.volume->Delete(key, *operation);
  if (!deleted) return call.Fail(deleted.error());
  static_cast<void>(call.response.Reply(call.StartOf(204, ""), "").ok());
}

void VolumeService::Stat(Call& call, const ContentKey& key) {
  const Result<BlockInfo> info = call.volume->Stat(key);
  if (!info) return call.Fail(info.error());
  call.Reply(200, wire::InfoJson(key, *info));
}

void VolumeService::LookUp(Call& call) {
  const Result<std::string> body = call.ReadBody(options_.lookup_keys_max * kLookupLineMax);
  if (!body) return call.FailBody(body.error());
  std::string json = "{\"contents\": [";
  std::size_t count = 0;
  for (std::string_view line : Split(*body, '\n')) {
    line = TrimSpace(line);
    if (line.empty()) continue;
    const std::optional<BlockId> block = ParseBlockName(line);
    if (!block || ++count > options_.lookup_keys_max) {
      return call.Fail(
          {ErrorCode::kInvalid, fmt::format("the body must be at most {} lines of SIGNATURE or "
                                            "SIGNATURE.NUMBER; line {} is not",
                                            options_.lookup_keys_max, count + (block ? 0 : 1))});
    }
    const ContentKey key{call.volume->name(), block->signature, block->overflow};
    const Result<BlockInfo> info = call.volume->Stat(key);
    if (count > 1) json += ",";
    if (info) {
      const std::string object = wire::InfoJson(key, *info);
      json += "\n" + object.substr(0, object.size() - 1);
    } else {
      json += fmt::format("\n{{\"key\": \"{}\", \"error\": \"{}\"}}", key.Text(),
                          wire::CodeName(info.error().code));
    }
  }
  call.Reply(200, json + "\n]}\n");
}

}  // namespace stele::store
