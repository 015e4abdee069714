#pragma once

#include <memory>
#include <string>

#include "util/result.h"

struct ssl_ctx_st;

// TLS 1.2 and 1.3 as OpenSSL has them.
namespace stele::net {

struct TlsContextDeleter {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextDeleter>;

// PEM files; `certificate_file` holds the server's certificate first, then those that lead to a
// known authority. Errors: kInvalid, with OpenSSL's reason.
Result<TlsContext> MakeServerTls(const std::string& certificate_file, const std::string& key_file);

// Trusts the authorities of `ca_file` (PEM), or the system's where it is empty. Servers must show a
// certificate that one of them signed, unless `verify` is false. Errors: kInvalid.
Result<TlsContext> MakeClientTls(const std::string& ca_file, bool verify);

// Takes any server. Errors: kInvalid.
Result<TlsContext> MakeTrustingTls();
// Then it can be told which servers are to be trusted, and MakeClientTls() is both.
Status LoadAuthorities(ssl_ctx_st* context, const std::string& ca_file);

// The oldest error that OpenSSL has kept for this thread; empties its queue.
std::string TlsErrorText();

}  // namespace stele::net
