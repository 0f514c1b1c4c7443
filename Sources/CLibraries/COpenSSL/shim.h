// OpenSSL 3.0 for Swift: functions for what the library offers only as macros or variadic functions.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

static inline int chatbot_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version) == 1;
}

static inline int chatbot_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_max_proto_version(context, version) == 1;
}

// Sets the elliptic curves that are offered and accepted, in keys that are exchanged and in certificates.
static inline int chatbot_SSL_CTX_set_groups_list(SSL_CTX *context, const char *names) {
  return SSL_CTX_set1_groups_list(context, names) == 1;
}

static inline void chatbot_SSL_set_mtu(SSL *ssl, long mtu) { SSL_set_mtu(ssl, mtu); }

// Returns the microseconds until the retransmission timer expires, or -1 if it is not running.
static inline long long chatbot_DTLSv1_get_timeout(SSL *ssl) {
  struct timeval left;
  return DTLSv1_get_timeout(ssl, &left) == 1 ? left.tv_sec * 1000000LL + left.tv_usec : -1;
}

static inline long chatbot_DTLSv1_handle_timeout(SSL *ssl) { return DTLSv1_handle_timeout(ssl); }

static inline EVP_PKEY *chatbot_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }

static inline void chatbot_BIO_set_mem_eof_return(BIO *bio, int value) { BIO_set_mem_eof_return(bio, value); }

static inline int chatbot_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name) == 1;
}

// TLS without renegotiation, compression and stored sessions; a write may be continued with a copy of its bytes, and may be
// partial; an idle connection has no buffers.
static inline void chatbot_SSL_CTX_set_stream_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(
      context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// Whether an error says that a PEM file contains nothing more.
static inline int chatbot_ERR_is_end_of_PEM(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

#endif
