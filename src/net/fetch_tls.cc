#include "net/fetch_tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "net/ip_address.h"

namespace stele::net {
namespace {

// Places of ours in OpenSSL's objects; they are given out once per process.
int OwnerIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}
int KeyIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

std::string ChainOf(SSL* ssl) {
  const STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl);
  const std::unique_ptr<BIO, BioDeleter> out(BIO_new(BIO_s_mem()));
  if (chain == nullptr || out == nullptr) return {};
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    PEM_write_bio_X509(out.get(), sk_X509_value(chain, i));
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

void TlsSessionDeleter::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }

FetchTls::FetchTls(TlsContext context, std::size_t sessions_max, bool has_authorities)
    : context_(std::move(context)), sessions_max_(sessions_max), has_authorities_(has_authorities) {
  SSL_CTX* const own = context_.get();
  SSL_CTX_set_ex_data(own, OwnerIndex(), this);
  SSL_CTX_set_session_cache_mode(own, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_sess_set_new_cb(own, OnNewSession);
  // Old servers are worth archiving, too. Where the library has no older version, this fails and
  // what it has stays.
  SSL_CTX_set_min_proto_version(own, TLS1_VERSION);
  SSL_CTX_set_cipher_list(own, "ALL:!aNULL:!eNULL:@SECLEVEL=0");
  SSL_CTX_set_options(own, SSL_OP_LEGACY_SERVER_CONNECT | SSL_OP_IGNORE_UNEXPECTED_EOF);
  ERR_clear_error();
}

Result<std::shared_ptr<FetchTls>> FetchTls::Open(const std::string& ca_file,
                                                 std::size_t sessions_max) {
  Result<TlsContext> context = MakeTrustingTls();
  if (!context) return context.error();
  if (!ca_file.empty()) {
    const Status loaded = LoadAuthorities(context->get(), ca_file);
    if (!loaded) return loaded.error();
  }
  return std::shared_ptr<FetchTls>(
      new FetchTls(std::move(*context), sessions_max, !ca_file.empty()));
}

bool FetchTls::Prepare(SSL* ssl, const std::string& host, const std::string& key) {
  ERR_clear_error();
  if (!has_authorities_) {
    has_authorities_ = true;
    // Where there are none, nobody is trusted, and captures say so.
    static_cast<void>(LoadAuthorities(context_.get(), ""));
  }
  SSL_set_ex_data(ssl, KeyIndex(), const_cast<std::string*>(&key));
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    const TlsSession& session = found->second->session;
    if (session != nullptr && SSL_SESSION_is_resumable(session.get()) == 1) {
      SSL_set_session(ssl, session.get());
    }
  }
  if (IpAddress::FromText(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  }
  // In certificates, and where a server is told who is meant, no name ends with a dot.
  const std::string name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  return SSL_set_tlsext_host_name(ssl, name.c_str()) == 1 && SSL_set1_host(ssl, name.c_str()) == 1;
}

std::shared_ptr<const TlsFacts> FetchTls::FactsOf(SSL* ssl, const std::string& key) {
  auto facts = std::make_shared<TlsFacts>();
  facts->version = SSL_get_version(ssl);
  facts->cipher = SSL_get_cipher_name(ssl);
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) facts->distrust = X509_verify_cert_error_string(verdict);
  Entry& entry = EntryFor(key);
  // A short handshake shows no certificates: they are those of the first one.
  facts->resumed = SSL_session_reused(ssl) == 1;
  if (facts->resumed && entry.facts != nullptr) {
    facts->chain = entry.facts->chain;
  } else {
    facts->chain = ChainOf(ssl);
  }
  entry.facts = facts;
  return facts;
}

int FetchTls::OnNewSession(SSL* ssl, SSL_SESSION* session) {
  auto* const self =
      static_cast<FetchTls*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), OwnerIndex()));
  const auto* const key = static_cast<const std::string*>(SSL_get_ex_data(ssl, KeyIndex()));
  if (self == nullptr || key == nullptr) return 0;
  self->EntryFor(*key).session.reset(session);
  return 1;  // it is ours now
}

FetchTls::Entry& FetchTls::EntryFor(const std::string& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  entries_.push_front({key, nullptr, nullptr});
  by_key_[entries_.front().key] = entries_.begin();
  while (entries_.size() > std::max<std::size_t>(sessions_max_, 1)) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return entries_.front();
}

}  // namespace stele::net
