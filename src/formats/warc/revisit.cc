#include "formats/warc/revisit.h"

#include <string>

#include "formats/warc/warc_writer.h"
#include "util/check.h"

namespace stele::warc {
namespace {

constexpr std::string_view kProfiles = "http://netpreserve.org/warc/1.1/revisit";
constexpr std::string_view kIdenticalPayloadName = "/identical-payload-digest";
constexpr std::string_view kServerNotModifiedName = "/server-not-modified";

}  // namespace

RevisitProfile RevisitProfileOf(const record::Record& record) {
  const std::optional<std::string_view> profile = record.fields.Find("WARC-Profile");
  if (!profile) return RevisitProfile::kNone;
  if (profile->ends_with(kIdenticalPayloadName)) return RevisitProfile::kIdenticalPayload;
  if (profile->ends_with(kServerNotModifiedName)) return RevisitProfile::kServerNotModified;
  return RevisitProfile::kOther;
}

RevisitTarget RevisitTargetOf(const record::Record& record) {
  RevisitTarget target;
  target.uri = record.fields.Find("WARC-Refers-To-Target-URI").value_or("");
  target.date = record.fields.Find("WARC-Refers-To-Date").value_or("");
  target.record_id = record.fields.Find("WARC-Refers-To").value_or("");
  return target;
}

void AddRevisitFields(RevisitProfile profile, const RevisitTarget& target, FieldList& fields) {
  Check(profile == RevisitProfile::kIdenticalPayload ||
        profile == RevisitProfile::kServerNotModified);
  std::string uri(kProfiles);
  uri +=
      profile == RevisitProfile::kIdenticalPayload ? kIdenticalPayloadName : kServerNotModifiedName;
  fields.Add("WARC-Profile", uri);
  fields.Add("WARC-Refers-To-Target-URI", target.uri);
  fields.Add("WARC-Refers-To-Date", target.date);
  fields.Add("WARC-Refers-To", target.record_id);
}

}  // namespace stele::warc
