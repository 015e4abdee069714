#include "crawl/visit_work.h"

#include <fmt/format.h>

#include "crawl/credentials.h"
#include "formats/http/message.h"
#include "formats/robots/robots.h"
#include "util/ascii.h"
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

std::vector<std::string> ProtocolsOf(const net::FetchResult& result) {
  std::vector<std::string> protocols;
  const std::string_view head = result.head;
  protocols.push_back(AsciiLower(head.substr(0, head.find(' '))));
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

std::vector<std::pair<std::string, std::string>> MetadataOf(const Visit& visit) {
  std::vector<std::pair<std::string, std::string>> fields;
  const Candidate& candidate = visit.candidate;
  if (candidate.seed) fields.emplace_back("seed", "");
  if (!candidate.via.empty()) fields.emplace_back("via", candidate.via);
  if (!candidate.hops.empty()) fields.emplace_back("hopsFromSeed", candidate.hops);
  if (!candidate.source.empty()) fields.emplace_back("sourceTag", candidate.source);
  if (visit.has_secrets) fields.emplace_back("requestRedacted", "Authorization, Cookie");
  fields.emplace_back("fetchTimeMs", std::to_string(FetchMilliseconds(visit.result)));
  for (const Outlink& link : visit.outlinks.links) {
    fields.emplace_back("outlink", fmt::format("{} {} {}", link.url, link.hop, link.context));
  }
  return fields;
}

std::string AnnotationsOf(const Visit& visit) {
  std::vector<std::string> notes;
  if (visit.candidate.tries > 0) notes.push_back(fmt::format("{}t", visit.candidate.tries + 1));
  if (visit.outlinks.left_out > 0) notes.push_back(fmt::format("dol:{}", visit.outlinks.left_out));
  switch (visit.result.truncation) {
    case net::Truncation::kLength:
      notes.emplace_back("lenTrunc");
      break;
    case net::Truncation::kTime:
      notes.emplace_back("timeTrunc");
      break;
    default:
      break;
  }
  if (visit.duplicate) notes.emplace_back("duplicate:digest");
  if (visit.candidate.hops.ends_with('M')) notes.emplace_back("isSitemap");
  const std::optional<PageTrouble>& trouble = visit.outlinks.trouble;
  const bool is_of_pages = trouble && trouble->kind == PageTrouble::Kind::kNeedsScript;
  if (trouble && (!is_of_pages || visit.candidate.is_page())) {
    notes.push_back(AnnotationOf(*trouble));
  }
  return fmt::format("{}", fmt::join(notes, ","));
}

void AddMember(std::string& json, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  json += fmt::format("{}\"{}\":", json.size() > 1 ? "," : "", name);
  AppendJsonString(json, value);
}

// ETag and Last-Modified are what a later crawl may judge by.
std::string ExtraOf(const archive::CrawledCapture& capture) {
  std::string json = fmt::format("{{\"contentSize\":{}", capture.response.size());
  AddMember(json, "etag", capture.facts->etag);
  AddMember(json, "lastModified", capture.facts->last_modified);
  if (capture.revisit) {
    AddMember(json, "RevisitProfile",
              "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
    AddMember(json, "RevisitRefersToURI", capture.revisit->url);
    AddMember(json, "RevisitRefersToDate", FormatIsoMillis(capture.revisit->time));
  }
  return json + '}';
}

std::string TextOfRobots(const net::FetchResult& result) {
  std::string storage;
  if (const std::optional<std::string_view> text = result.PayloadInMemory(storage)) {
    return std::string(text->substr(0, robots::kSizeMax));
  }
  const std::unique_ptr<io::Source> source = result.OpenPayload();
  std::string text(robots::kSizeMax, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const Result<std::size_t> more = source->Read(std::span(text).subspan(size));
    if (!more || *more == 0) break;
    size += *more;
  }
  text.resize(size);
  return text;
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
  if (visit.result.begun.milliseconds > 0) {
    line.fetch = crawl_log::FetchField(visit.result.begun, FetchMilliseconds(visit.result));
  }
  return line;
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
  Result<archive::ResponseFacts> facts = archive::ExamineResponse(capture.response);
  if (!facts) return facts.error();
  capture.facts = *std::move(facts);
  const bool truncated = result.truncation != net::Truncation::kNone;
  Result<dedup::Verdict> verdict = duplicates_.Judge({capture.url, *capture.facts, truncated});
  if (!verdict) return verdict.error();
  capture.revisit = std::move(verdict->original);
  capture.protocols = ProtocolsOf(result);
  if (result.tls != nullptr) capture.cipher_suite = result.tls->cipher;
  return capture;
}

void VisitWork::Do(const VisitPointer& visit, const std::function<void()>& worked,
                   std::function<void()> kept) {
  const net::FetchResult& result = visit->result;
  if (!visit->robots_origin.empty()) visit->robots_text = TextOfRobots(result);
  visit->outlinks =
      finder_.Find(result, visit->candidate.url, visit->candidate.hops.ends_with('M'));
  Result<archive::CrawledCapture> capture = MakeCapture(visit);
  if (!capture) {
    visit->appended = capture.error();
    worked();
    return kept();
  }
  const archive::ResponseFacts& facts = *capture->facts;
  visit->duplicate = capture->revisit.has_value();
  visit->payload_bytes = facts.payload_length;
  visit->payload_digest =
      Digest(DigestAlgorithm::kSha1, {facts.sha1.data(), facts.sha1.size()}).Labelled();
  visit->line = LogLineOf(*visit, result.status);
  visit->line.size = std::to_string(result.body_length());
  visit->line.digest = visit->payload_digest;
  visit->line.extra = ExtraOf(*capture);
  const Result<http::ResponseHead> head = http::ParseResponseHead(result.head);
  if (head) {
    const std::optional<std::string_view> type = head->headers.Find("Content-Type");
    visit->line.mime_type = type ? crawl_log::MimeTypeField(*type) : "unknown";
  }
  capture->metadata = MetadataOf(*visit);
  const bool keep = !visit->is_kept;
  worked();
  if (!keep) return kept();
  // From here on others may look at the visit; what comes is told by `kept` alone.
  const auto told = std::make_shared<std::function<void()>>(std::move(kept));
  const Status appended =
      writer_.Append(*capture, [visit, told](const Result<catalog::CaptureId>& id) {
        if (id) visit->capture = *id;
        if (!id) visit->appended = id.error();
        (*told)();
      });
  if (appended) return;
  visit->appended = appended.error();
  (*told)();
}

}  // namespace stele::crawl
