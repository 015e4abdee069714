#include "crawl/visit_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/http_head.h"
#include "archive/revisit_resolver.h"
#include "crawl/credentials.h"
#include "crawl/redirect_status.h"
#include "formats/http/message.h"
#include "formats/robots/robots.h"
#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/digest.h"
#include "util/json.h"

namespace stele::crawl {
namespace {

// The bytes of a response as a file, whether they are in one or not.
class ResponseFile final : public io::ReadableFile {
 public:
  explicit ResponseFile(VisitPointer visit) : visit_(std::move(visit)) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    return visit_->result.response.ReadAt(offset, out);
  }
  Result<std::uint64_t> Size() const override { return visit_->result.response.size(); }

 private:
  const VisitPointer visit_;
};

archive::WireMessage ResponseMessage(const VisitPointer& visit) {
  const net::SpooledBytes& response = visit->result.response;
  if (const std::optional<std::string_view> bytes = response.InMemory()) {
    return archive::WireMessage::InMemory(std::string(*bytes));
  }
  return archive::WireMessage::InFile(std::make_shared<const ResponseFile>(visit), response.size());
}

warc::Truncation WarcTruncation(net::Truncation truncation) {
  switch (truncation) {
    case net::Truncation::kNone:
      return warc::Truncation::kNone;
    case net::Truncation::kLength:
      return warc::Truncation::kLength;
    case net::Truncation::kTime:
      return warc::Truncation::kTime;
    case net::Truncation::kDisconnect:
      return warc::Truncation::kDisconnect;
    case net::Truncation::kAborted:
      return warc::Truncation::kUnspecified;
  }
  return warc::Truncation::kUnspecified;
}

net::Truncation FetchTruncation(warc::Truncation truncation) {
  if (truncation == warc::Truncation::kLength) return net::Truncation::kLength;
  return truncation == warc::Truncation::kTime ? net::Truncation::kTime
                                               : net::Truncation::kDisconnect;
}

std::vector<std::string> ProtocolsOf(const net::FetchResult& result) {
  std::vector<std::string> protocols;
  // As far as it is one: servers send "HTTP/1.1\t200", "ICY 200" and "200 OK", too.
  const std::string_view head = result.head;
  const std::string_view word = head.substr(0, head.find_first_of(" \t\r\n"));
  const bool is_plain = std::all_of(word.begin(), word.end(),
                                    [](char c) { return IsAsciiAlnum(c) || c == '/' || c == '.'; });
  if (is_plain && StartsWithIgnoreCase(word, "HTTP/")) protocols.push_back(AsciiLower(word));
  // "TLSv1.3" is "tls/1.3".
  constexpr std::string_view kTls = "TLSv";
  if (result.tls != nullptr && result.tls->version.starts_with(kTls)) {
    protocols.push_back("tls/" + result.tls->version.substr(kTls.size()));
  }
  return protocols;
}

std::uint64_t FetchMilliseconds(const net::FetchResult& result) {
  return static_cast<std::uint64_t>(result.timings.done.count()) / 1000;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

// Why there is no body. The head of a 304, which the revisit record has not, is kept here.
void AddReasons(const Visit& visit, Fields& fields) {
  const bool aborted = visit.result.truncation == net::Truncation::kAborted;
  fields.emplace_back("bodyNotFetched", aborted ? "by its headers it is unchanged"
                                                : "the server said that it is unchanged");
  if (aborted) return;
  const std::string_view head = visit.result.head;
  for (const std::string_view line : Split(head, '\n')) {
    if (!TrimSpace(line).empty()) fields.emplace_back("responseHead", TrimSpace(line));
  }
}

Fields MetadataOf(const Visit& visit, const Fields& certificates) {
  Fields fields;
  const Candidate& candidate = visit.candidate;
  if (candidate.seed) fields.emplace_back("seed", "");
  if (!candidate.via.empty()) fields.emplace_back("via", candidate.via);
  if (!candidate.hops.empty()) fields.emplace_back("hopsFromSeed", candidate.hops);
  if (!candidate.source.empty()) fields.emplace_back("sourceTag", candidate.source);
  if (visit.has_secrets) fields.emplace_back("requestRedacted", "Authorization, Cookie");
  fields.emplace_back("fetchTimeMs", std::to_string(FetchMilliseconds(visit.result)));
  if (!visit.result.interim.empty()) {
    fields.emplace_back("interimResponses", Base64Encode(visit.result.interim));
  }
  fields.insert(fields.end(), certificates.begin(), certificates.end());
  if (visit.is_unchanged()) AddReasons(visit, fields);
  for (const Outlink& link : visit.outlinks.links) {
    fields.emplace_back("outlink", fmt::format("{} {} {}", link.url, link.hop, link.context));
  }
  return fields;
}

std::string_view DuplicateWord(const Visit& visit) {
  if (!visit.is_unchanged()) return "duplicate:digest";
  return visit.result.truncation == net::Truncation::kAborted ? "header-duplicate"
                                                              : "duplicate:server-not-modified";
}

std::string AnnotationsOf(const Visit& visit) {
  std::vector<std::string> notes;
  if (visit.candidate.tries > 0) notes.push_back(fmt::format("{}t", visit.candidate.tries + 1));
  if (visit.outlinks.left_out > 0) {
    notes.push_back(fmt::format("{}{}", kLinksLeftOut, visit.outlinks.left_out));
  }
  if (visit.repeats_secret) notes.emplace_back(kRepeatsSecret);
  switch (visit.result.truncation) {
    case net::Truncation::kLength:
      notes.emplace_back("lenTrunc");
      break;
    case net::Truncation::kTime:
      notes.emplace_back("timeTrunc");
      break;
    case net::Truncation::kDisconnect:
      notes.emplace_back("disconnectTrunc");
      break;
    default:
      break;
  }
  if (visit.result.failure == net::FetchFailure::kHeadTooLong) notes.emplace_back("headerTrunc");
  if (visit.result.failure == net::FetchFailure::kNotHttp) notes.emplace_back("notHttp");
  if (visit.duplicate) notes.emplace_back(DuplicateWord(visit));
  if (visit.result.tls != nullptr && !visit.result.tls->distrust.empty()) {
    notes.emplace_back("invalidCertificate");
  }
  if (visit.candidate.is_sitemap()) notes.emplace_back("isSitemap");
  const std::optional<PageTrouble>& trouble = visit.outlinks.trouble;
  const bool is_of_pages = trouble && trouble->kind == PageTrouble::Kind::kNeedsScript;
  if (trouble && (!is_of_pages || visit.candidate.is_page())) {
    notes.push_back(AnnotationOf(*trouble));
  }
  return fmt::format("{}", fmt::join(notes, ","));
}

void AddMember(std::string& json, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  json += json.size() > 1 ? ",\"" : "\"";
  json += name;
  json += "\":";
  AppendJsonString(json, value);
}

std::string_view RedirectIn(const Outlinks& outlinks) {
  const auto target = std::find_if(outlinks.links.begin(), outlinks.links.end(),
                                   [](const Outlink& link) { return link.hop == 'R'; });
  return target == outlinks.links.end() ? std::string_view() : target->url;
}

// ETag and Last-Modified are what a later crawl may judge by, and where a redirect leads is for the
// reports on seeds and on what is missing; the rest is for the report on duplicates.
std::string ExtraOf(const Visit& visit, const archive::CrawledCapture& capture) {
  const std::uint64_t content_bytes = visit.is_retold
                                          ? visit.result.head.size() + capture.facts->payload_length
                                          : capture.response.size();
  std::string json = "{\"contentSize\":" + std::to_string(content_bytes);
  AddMember(json, "etag", capture.facts->etag);
  AddMember(json, "lastModified", capture.facts->last_modified);
  const bool leads_on = visit.candidate.seed || IsRedirect(visit.result.status);
  if (leads_on) AddMember(json, "redirect", RedirectIn(visit.outlinks));
  if (visit.result.tls != nullptr) AddMember(json, "tlsDistrust", visit.result.tls->distrust);
  if (capture.revisit) {
    const bool fetched = capture.revisit->profile == warc::RevisitProfile::kIdenticalPayload;
    AddMember(json, "RevisitProfile",
              fmt::format("http://netpreserve.org/warc/1.1/revisit/{}",
                          fetched ? "identical-payload-digest" : "server-not-modified"));
    AddMember(json, "RevisitRefersToURI", capture.revisit->url);
    AddMember(json, "RevisitRefersToDate", FormatIsoMillis(capture.revisit->time));
    AddMember(json, "RevisitOrigin", visit.verdict.origin);
  }
  if (const std::string_view hit = NameOf(visit.verdict.hit); !hit.empty()) {
    json += ",\"payloadSize\":" + std::to_string(capture.facts->payload_length);
    AddMember(json, "hit", hit);
    AddMember(json, "timestampPredicts", visit.verdict.timestamp_category);
    AddMember(json, "etagPredicts", visit.verdict.etag_category);
  }
  return json + '}';
}

// Nothing where it is not whole, or is that of another capture.
dedup::PayloadDigest OwnPayloadOf(const archive::CrawledCapture& capture) {
  const bool has_payload = !capture.revisit && capture.facts->payload_length > 0 &&
                           capture.truncated == warc::Truncation::kNone;
  if (!has_payload) return {};
  return {.sha1 = capture.facts->sha1, .sha256 = capture.facts->sha256};
}

}  // namespace

crawl_log::Line LogLineOf(const Visit& visit, int status) {
  crawl_log::Line line;
  line.status = std::to_string(status);
  line.uri = visit.candidate.url;
  line.hops = crawl_log::HopsField(visit.candidate.hops);
  line.via = visit.candidate.via;
  line.mime_type = "no-type";
  line.thread = crawl_log::ThreadField(0);
  line.source = visit.candidate.source;
  line.annotations = AnnotationsOf(visit);
  if (!visit.result.error.empty()) {
    line.extra = "{";
    AddMember(line.extra, "error", visit.result.error);
    line.extra += '}';
  }
  if (visit.result.begun.milliseconds > 0) {
    line.fetch = crawl_log::FetchField(visit.result.begun, FetchMilliseconds(visit.result));
  }
  return line;
}

void Explain(std::string_view reason, crawl_log::Line& line) {
  std::string json = line.extra.empty() ? "{" : line.extra.substr(0, line.extra.size() - 1);
  AddMember(json, "scope", reason);
  line.extra = json + '}';
}

Status VisitWork::Judge(Visit& visit, archive::CrawledCapture& capture) {
  if (visit.is_unchanged()) {
    capture.revisit = archive::RevisitOriginal{.profile = warc::RevisitProfile::kServerNotModified,
                                               .url = visit.known->url,
                                               .time = visit.known->time,
                                               .record_id = visit.known->record_id,
                                               .sha1 = visit.known->digest.sha1};
    visit.verdict.origin = settings_.origin;
    capture.facts->type = visit.known->type;
    return {};
  }
  const bool truncated = visit.result.truncation != net::Truncation::kNone;
  Result<dedup::Verdict> verdict =
      parts_.duplicates.Judge({capture.url, *capture.facts, truncated});
  if (!verdict) return verdict.error();
  capture.revisit = std::move(verdict->original);
  visit.verdict = *std::move(verdict);
  if (visit.verdict.origin.empty()) visit.verdict.origin = settings_.origin;
  return {};
}

Result<archive::CrawledCapture> VisitWork::MakeCapture(const VisitPointer& visit) {
  const net::FetchResult& result = visit->result;
  archive::CrawledCapture capture;
  capture.url = visit->candidate.url;
  capture.time = result.begun;
  if (result.address) capture.ip_address = result.address->ToText();
  capture.request = archive::WireMessage::InMemory(visit->has_secrets ? Redacted(result.request)
                                                                      : result.request);
  capture.response = ResponseMessage(visit);
  capture.truncated = WarcTruncation(result.truncation);
  capture.hurried = visit->hurried;
  Result<archive::ResponseFacts> facts = archive::ExamineResponse(capture.response);
  if (!facts) return facts.error();
  capture.facts = *std::move(facts);
  capture.protocols = ProtocolsOf(result);
  if (result.tls != nullptr) capture.cipher_suite = result.tls->cipher;
  return capture;
}

Result<archive::CrawledCapture> VisitWork::ReadKept(Visit& visit) {
  const archive::ArchiveView view = parts_.archive.View();
  const Result<catalog::HeldCapture> held = view.catalog().Get(visit.kept->id);
  if (!held) return held.error();
  // Its head is enough.
  Result<ArchivedCopy> copy = ReadArchivedCopy(view, visit.kept->id, 1);
  if (!copy) return copy.error();
  const catalog::Capture& row = held->row;
  visit.known.reset();
  visit.result.head = std::move(copy->head);
  visit.result.status = static_cast<int>(row.status);
  if (visit.url.scheme() == "https") {
    Result<std::string> distrust = ReadDistrust(view, row);
    if (!distrust) return distrust.error();
    net::TlsFacts tls;
    tls.distrust = *std::move(distrust);
    visit.result.tls = std::make_shared<const net::TlsFacts>(std::move(tls));
  }
  if (visit.kept->is_cut) visit.result.truncation = FetchTruncation(copy->truncation);
  archive::CrawledCapture capture;
  capture.url = visit.candidate.url;
  capture.truncated = WarcTruncation(visit.result.truncation);
  Result<archive::ResponseFacts> facts =
      archive::ExamineResponse(archive::WireMessage::InMemory(visit.result.head));
  if (!facts) return facts.error();
  facts->type = row.type;
  facts->payload_length = row.length;
  if (row.sha1) facts->sha1 = *row.sha1;
  if (row.sha256) facts->sha256 = *row.sha256;
  capture.facts = *std::move(facts);
  if (const Status decided = Decide(visit, capture); !decided) return decided.error();
  if (!row.sha1 && capture.revisit && capture.revisit->sha1) {
    capture.facts->sha1 = *capture.revisit->sha1;
  }
  return capture;
}

bool VisitWork::Claim(const VisitPointer& visit, const archive::CrawledCapture& capture) {
  if (parts_.originals == nullptr || visit->kept || visit->is_surplus || visit->is_unchanged() ||
      capture.facts->payload_length == 0 || capture.truncated != warc::Truncation::kNone) {
    return true;
  }
  std::optional<PayloadClaims::Claim> claim = claims_.TryClaim(capture.facts->sha256, visit);
  // Another thread may have the visit by now.
  if (!claim) return false;
  visit->claim = std::move(claim);
  return true;
}

Status VisitWork::Decide(Visit& visit, archive::CrawledCapture& capture) {
  if (const Status judged = Judge(visit, capture); !judged) return judged;
  const Status taken = TakeStored(visit, capture);
  visit.duplicate = capture.revisit.has_value();
  return taken;
}

Status VisitWork::TakeStored(Visit& visit, archive::CrawledCapture& capture) {
  if (!visit.kept) return {};
  const archive::ArchiveView view = parts_.archive.View();
  const Result<catalog::HeldCapture> held = view.catalog().Get(visit.kept->id);
  if (!held) return held.error();
  const catalog::Capture& row = held->row;
  visit.result.begun = capture.time = row.time;
  const bool is_revisit = (row.flags & catalog::kRevisit) != 0;
  dedup::Hit& hit = visit.verdict.hit;
  if (!is_revisit && capture.revisit && !visit.is_unchanged()) {
    capture.revisit.reset();
    if (hit != dedup::Hit::kNotHandled) hit = dedup::Hit::kNew;
  }
  Result<catalog::HeldCapture> original = Error{ErrorCode::kNotFound, ""};
  if (is_revisit) {
    original =
        archive::RevisitResolver(view, archive::RevisitResolver::Effort::kLookUps).Resolve(*held);
    if (!original && original.error().code != ErrorCode::kNotFound) return original.error();
  }
  std::optional<catalog::CaptureId> payload = row.id;
  if (is_revisit) payload = original ? std::optional(original->row.id) : std::nullopt;
  const bool is_other =
      !capture.revisit || (original && original->row.sha1 != capture.revisit->sha1);
  if (is_revisit && original && is_other) {
    capture.revisit = archive::RevisitOriginal{.url = std::string(original->row.url),
                                               .time = original->row.time,
                                               .record_id = "",
                                               .sha1 = original->row.sha1};
    hit = original->row.url == capture.url ? dedup::Hit::kExact : dedup::Hit::kMirror;
  }
  archive::ResponseFacts& facts = *capture.facts;
  if (visit.is_retold) visit.stored = payload;
  // A body came with it: what only was not modified claims no digest.
  if (visit.is_retold && is_revisit && row.sha1 && original) {
    facts.payload_length = original->row.length;
  }
  const catalog::Capture& has = is_revisit && original ? original->row : row;
  if (visit.is_retold || visit.is_unchanged() || !has.sha256 || !has.sha1) return {};
  const int status = static_cast<int>(row.status);
  if (*has.sha256 == facts.sha256 && status == visit.result.status) return {};
  visit.stored = payload;
  // Rules are taken from what came now, and only from all of it.
  const bool is_robots = !visit.robots_origin.empty();
  if (!visit.kept->is_cut && !is_robots) visit.result.truncation = net::Truncation::kNone;
  visit.result.status = status;
  facts.sha256 = *has.sha256;
  facts.sha1 = *has.sha1;
  facts.payload_length = has.length;
  facts.type = row.type;
  return {};
}

Status VisitWork::FindLinks(Visit& visit) {
  const bool is_sitemap = visit.candidate.is_sitemap();
  if (visit.is_unchanged()) {
    const bool has_links = is_sitemap || HeaderFilter::IsText(visit.known->type);
    return has_links ? FindLinksInCopy(visit, *visit.known->capture) : Status();
  }
  // Where a redirect leads is no link that could be left for another time, and the links of the
  // same page at another URL lead elsewhere. What is fetched for its links alone was captured by
  // this run, and is a duplicate of that.
  const bool has_its_own = IsRedirect(visit.result.status) || visit.candidate.links_only ||
                           visit.verdict.hit == dedup::Hit::kMirror;
  if (visit.duplicate && settings_.before_links && !has_its_own) return {};
  if (visit.stored) return FindLinksInCopy(visit, *visit.stored);
  if (!visit.is_retold) {
    visit.outlinks = finder_.Find(visit.result, visit.candidate);
  } else if (IsRedirect(visit.result.status)) {
    // The original is not here; where a redirect leads, its own head says.
    ArchivedCopy copy;
    copy.head = visit.result.head;
    visit.outlinks = finder_.FindInCopy(copy, visit.candidate);
  }
  return {};
}

Status VisitWork::FindLinksInCopy(Visit& visit, const catalog::CaptureId& copy) {
  const archive::ArchiveView view = parts_.archive.View();
  Result<ArchivedCopy> read = ReadArchivedCopy(view, copy, OutlinkFinder::kPayloadBytesMax);
  // A copy that is damaged, as stele verify tells, leads nowhere.
  if (!read && read.error().code == ErrorCode::kCorrupt) return {};
  if (!read) return read.error();
  // Where a redirect leads, and what the payload is, stands in its own head.
  if (visit.stored && *visit.stored != visit.kept->id) {
    const Result<catalog::HeldCapture> revisit = view.catalog().Get(visit.kept->id);
    if (!revisit) return revisit.error();
    if (auto own = archive::ReadOwnHead(view, revisit->row)) read->head = *std::move(own);
  }
  visit.outlinks = finder_.FindInCopy(*read, visit.candidate);
  return {};
}

void VisitWork::Describe(Visit& visit, const archive::CrawledCapture& capture) {
  const archive::ResponseFacts& facts = *capture.facts;
  const bool was_fetched = !visit.is_unchanged();
  const catalog::Sha1Bytes& sha1 = was_fetched ? facts.sha1 : *capture.revisit->sha1;
  visit.payload_bytes = was_fetched ? facts.payload_length : 0;
  visit.payload_digest = Digest(DigestAlgorithm::kSha1, {sha1.data(), sha1.size()}).Labelled();
  visit.line = LogLineOf(visit, visit.result.status);
  const bool is_stored = visit.stored || visit.is_retold;
  visit.line.size = std::to_string(is_stored ? facts.payload_length : visit.result.body_length());
  visit.line.digest = visit.payload_digest;
  visit.line.extra = ExtraOf(visit, capture);
  const Result<http::ResponseHead> head = http::ParseResponseHead(visit.result.head);
  if (!head) return;
  const std::optional<std::string_view> type = head->headers.Find("Content-Type");
  visit.line.mime_type = type ? crawl_log::MimeTypeField(*type) : "unknown";
  if (!type && !was_fetched) visit.line.mime_type = visit.known->type;
}

void VisitWork::Learn(const catalog::CaptureId& id, const dedup::PayloadDigest& digest) {
  if (parts_.originals != nullptr) parts_.originals->Learn(id, digest);
}

void VisitWork::Append(const VisitPointer& visit, const archive::CrawledCapture& capture) {
  const dedup::PayloadDigest digest = OwnPayloadOf(capture);
  const Status appended =
      parts_.writer.Append(capture, [this, visit, digest](const Result<catalog::CaptureId>& id) {
        if (id) visit->capture = *id;
        if (!id) visit->appended = id.error();
        if (id) Learn(*id, digest);
        visit->claim.reset();
        tell_(Stage::kKept, visit);
      });
  if (appended) return;
  visit->appended = appended.error();
  visit->claim.reset();
  tell_(Stage::kKept, visit);
}

void VisitWork::Do(const VisitPointer& visit) {
  if (!visit->robots_origin.empty()) {
    // With one byte more, by which the parser sees that the last line may be half of one.
    visit->robots_text = finder_.Content(visit->result).substr(0, robots::kSizeMax + 1);
  }
  Result<archive::CrawledCapture> capture =
      visit->is_retold ? ReadKept(*visit) : MakeCapture(visit);
  if (capture && !Claim(visit, *capture)) return;
  Status done = capture ? Status() : capture.error();
  if (done && !visit->is_retold) done = Decide(*visit, *capture);
  // Others with this payload are judged alike.
  if (visit->verdict.hit != dedup::Hit::kNew) visit->claim.reset();
  if (done) done = FindLinks(*visit);
  if (!done) {
    visit->appended = done;
    visit->claim.reset();
    tell_(Stage::kWorked, visit);
    return tell_(Stage::kKept, visit);
  }
  Describe(*visit, *capture);
  visit->mime_type = visit->line.mime_type;
  if (visit->is_surplus) visit->line = {};
  const bool keep = !visit->kept && !visit->is_surplus;
  if (keep)
    capture->metadata = MetadataOf(*visit, certificates_.FieldsFor(visit->result.tls.get()));
  if (visit->kept && !visit->kept->is_cut) Learn(visit->kept->id, OwnPayloadOf(*capture));
  tell_(Stage::kWorked, visit);
  if (!keep) return tell_(Stage::kKept, visit);
  // From here on others may look at the visit; what comes is told by kKept alone.
  Append(visit, *capture);
}

}  // namespace stele::crawl
