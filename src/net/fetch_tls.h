#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/fetch.h"
#include "net/socket_stream.h"
#include "net/tls.h"
#include "util/result.h"

struct ssl_st;
struct ssl_session_st;

namespace stele::net {

struct TlsSessionDeleter {
  void operator()(ssl_session_st* session) const;
};
using TlsSession = std::unique_ptr<ssl_session_st, TlsSessionDeleter>;

// TLS as a crawler wants it: any server is good, however old or badly certified, and what is wrong
// is told. Remembers sessions, so that the next handshake with a host is short. For one thread.
class FetchTls {
 public:
  // Errors: kInvalid, for a `ca_file` that cannot be used.
  static Result<std::shared_ptr<FetchTls>> Open(const std::string& ca_file,
                                                std::size_t sessions_max);

  ssl_ctx_st* context() const { return context_.get(); }

  // Before the handshake: names the host, offers a session. `key` tells one server from others and
  // must live as long as `ssl`.
  bool Prepare(ssl_st* ssl, const std::string& host, const std::string& key);
  // After it.
  std::shared_ptr<const TlsFacts> FactsOf(ssl_st* ssl, const std::string& key);

 private:
  struct Entry {
    std::string key;
    TlsSession session;
    std::shared_ptr<const TlsFacts> facts;
  };
  using Entries = std::list<Entry>;

  FetchTls(TlsContext context, std::size_t sessions_max, bool has_authorities);
  static int OnNewSession(ssl_st* ssl, ssl_session_st* session);
  Entry& EntryFor(const std::string& key);

  TlsContext context_;
  const std::size_t sessions_max_;
  bool has_authorities_;  // the system's take a moment, and many crawls meet no TLS
  Entries entries_;       // the newest first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  // keys in `entries_`
};

}  // namespace stele::net
