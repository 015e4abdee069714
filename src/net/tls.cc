#include "net/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>

namespace stele::net {
namespace {

Error Refused(std::string_view what, const std::string& file) {
  return {ErrorCode::kInvalid, fmt::format("{} {}: {}", what, file, TlsErrorText())};
}

Result<TlsContext> MakeContext(const SSL_METHOD* method) {
  ERR_clear_error();
  TlsContext context(SSL_CTX_new(method));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return Error{ErrorCode::kInvalid, "no TLS: " + TlsErrorText()};
  }
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  return context;
}

}  // namespace

void TlsContextDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

std::string TlsErrorText() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown reason";
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

Result<TlsContext> MakeServerTls(const std::string& certificate_file, const std::string& key_file) {
  Result<TlsContext> context = MakeContext(TLS_server_method());
  if (!context) return context;
  if (SSL_CTX_use_certificate_chain_file(context->get(), certificate_file.c_str()) != 1) {
    return Refused("cannot use the certificate", certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context->get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context->get()) != 1) {
    return Refused("cannot use the key", key_file);
  }
  return context;
}

Result<TlsContext> MakeTrustingTls() {
  Result<TlsContext> context = MakeContext(TLS_client_method());
  if (context) SSL_CTX_set_verify(context->get(), SSL_VERIFY_NONE, nullptr);
  return context;
}

Status LoadAuthorities(ssl_ctx_st* context, const std::string& ca_file) {
  const bool loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context) == 1
                                      : SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1;
  if (!loaded) return Refused("cannot use the authorities of", ca_file);
  return {};
}

Result<TlsContext> MakeClientTls(const std::string& ca_file, bool verify) {
  Result<TlsContext> context = MakeTrustingTls();
  if (!context) return context;
  if (verify) SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
  if (const Status loaded = LoadAuthorities(context->get(), ca_file); !loaded) {
    return loaded.error();
  }
  return context;
}

}  // namespace stele::net
