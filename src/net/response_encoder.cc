#include "net/response_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "util/ascii.h"
#include "util/check.h"

namespace stele::net {
namespace {

struct Reason {
  int status;
  std::string_view text;
};
constexpr std::array kReasons{
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{206, "Partial Content"},
    Reason{207, "Multi-Status"},
    Reason{300, "Multiple Choices"},
    Reason{301, "Moved Permanently"},
    Reason{302, "Found"},
    Reason{303, "See Other"},
    Reason{304, "Not Modified"},
    Reason{307, "Temporary Redirect"},
    Reason{308, "Permanent Redirect"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{411, "Length Required"},
    Reason{412, "Precondition Failed"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{416, "Range Not Satisfiable"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{423, "Locked"},
    Reason{428, "Precondition Required"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{451, "Unavailable For Legal Reasons"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{505, "HTTP Version Not Supported"},
    Reason{507, "Insufficient Storage"},
};

constexpr std::array<std::string_view, 4> kOwnFields{"Content-Length", "Transfer-Encoding",
                                                     "Connection", "Date"};

// Eight digits hold any chunk, since the buffers are smaller.
constexpr std::string_view kOpenChunk = "00000000\r\n";
constexpr std::size_t kSizeDigits = 8;

}  // namespace

std::string_view ReasonOf(int status) {
  const auto found = std::find_if(kReasons.begin(), kReasons.end(),
                                  [=](const Reason& reason) { return reason.status == status; });
  return found == kReasons.end() ? std::string_view() : found->text;
}

bool StatusHasBody(int status) { return status >= 200 && status != 204 && status != 304; }

Status CheckStart(const ResponseStart& start) {
  if (start.status < 200 || start.status > 999) {
    return Error{ErrorCode::kInvalid, fmt::format("no status of a response: {}", start.status)};
  }
  for (const HeaderField& field : start.fields) {
    if (Status good = CheckField(field); !good) return good;
    for (const std::string_view own : kOwnFields) {
      if (EqualsIgnoreCase(field.name, own)) {
        return Error{ErrorCode::kInvalid, fmt::format("{} is set by the server itself", own)};
      }
    }
  }
  return {};
}

void AppendHead(const ResponseStart& start, std::optional<std::uint64_t> length, bool chunked,
                ConnectionField connection, Timestamp now, std::string& out) {
  const auto append = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} ", start.status);
  out.append(ReasonOf(start.status)).append("\r\n");
  append("Date", FormatHttpDate(now));
  for (const HeaderField& field : start.fields) append(field.name, field.value);
  if (length && start.status != 204) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", *length);
  } else if (chunked) {
    append("Transfer-Encoding", "chunked");
  }
  if (connection == ConnectionField::kKeepAlive) append("Connection", "keep-alive");
  if (connection == ConnectionField::kClose) append("Connection", "close");
  out += "\r\n";
}

void AppendRefusal(int status, std::string_view text, Timestamp now, std::string& out) {
  ResponseStart start;
  start.status = status;
  start.fields.push_back({"Content-Type", "text/plain; charset=utf-8"});
  AppendHead(start, text.size() + 1, false, ConnectionField::kClose, now, out);
  out.append(text).append("\n");
}

void ChunkWriter::Append(std::string_view bytes, std::string& out) {
  if (bytes.empty()) return;
  if (begin_ == kNone) {
    begin_ = out.size();
    out += kOpenChunk;
  }
  out += bytes;
}

void ChunkWriter::CloseChunk(std::string& out) {
  if (begin_ == kNone) return;
  const std::size_t size = out.size() - begin_ - kOpenChunk.size();
  Check(size > 0 && size <= 0xffffffff);
  fmt::format_to_n(out.begin() + static_cast<std::ptrdiff_t>(begin_), kSizeDigits, "{:08x}", size);
  out += "\r\n";
  begin_ = kNone;
}

void ChunkWriter::End(std::string& out) {
  CloseChunk(out);
  out += "0\r\n\r\n";
}

}  // namespace stele::net
