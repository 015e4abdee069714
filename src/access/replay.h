#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "access/call.h"
#include "access/capture_content.h"
#include "access/wayback_path.h"

// Captures on their way back to a browser. Archived headers never act on our origins: they are sent
// under other names. docs/access.md, "Replay".
namespace stele::access {

// The capture that answers, and what is in it.
struct Replayed {
  catalog::HeldCapture capture;
  std::unique_ptr<CaptureContent> content;
  std::string location;     // absolute; where the archived answer leads to, else empty
  bool is_similar = false;  // to what was asked for, which was not captured

  bool is_redirect() const { return !location.empty(); }
};

// The nearest to the time of the path that does not lead to itself: a redirect from http to https,
// or to www, has one key with its target; others lead back over further redirects. Nothing where
// there is none; `blocked` then says whether that is because of a rule. Where nothing was captured
// under the URL of the path, a similar one does. Errors: those of CaptureContent::Open().
Result<std::optional<Replayed>> FindReplayed(const Sight& sight, const WaybackPath& path,
                                             const CaptureContent::KeepsCoding& keeps,
                                             bool& blocked);

// Whether the path names this capture's time, to the second at least.
bool NamesExactly(const WaybackPath& path, const catalog::Capture& row);

// Where the capture is shown, if it is not to be shown at the address of the path.
std::optional<std::string> LeadsTo(const Call& call, const WaybackPath& path,
                                   const Replayed& replayed);
// What tells the client which capture it is: MementoFields(), and where it is shown itself, if it
// is sent at another address.
std::vector<net::HeaderField> CaptureFields(const Call& call, const WaybackPath& path,
                                            const Replayed& replayed);

// The status to send for an archived one.
int WireStatus(int archived);

// id_: a capture as it was sent, in a sandbox.
void SendIdentity(const Call& call, const WaybackPath& path);

// rp_: for the service worker of the pages, on the origin of replay. The status on the
// wire is 200 whatever was archived, since a worker would follow a redirect to the live web.
void SendForWorker(const Call& call, const WaybackPath& path);

// There is nothing to replay. The pages' scripts read the mark: "missing", "blocked", "damaged",
// "away" (on a machine that does not answer), "refused".
void SendMissing(const Call& call, int status, std::string_view mark, std::string_view text);

// Sends the content, or the part of it that a Range header asks for. `start` has all fields but
// those about ranges.
void SendContent(const Call& call, net::ResponseStart start, Replayed replayed, bool ranges);

}  // namespace stele::access
