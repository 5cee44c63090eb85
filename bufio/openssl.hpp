// OpenSSL, for bufio/tls*.cpp.  Its libraries take longer to load than all the rest of a start:
// the first use of TLS loads them, unless the build links them (YODEL_LINK_OPENSSL).  Within
// bufio the name of a function, also in what OpenSSL's macros expand to, then is that of a
// pointer to it; one that the list lacks does not link.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace bufio {

#ifdef YODEL_LINK_OPENSSL

inline void load_openssl() {}

#else

// Before the first call of any of them; throws TlsError.
void load_openssl();

// clang-format off
#define BUFIO_OPENSSL_FUNCTIONS(X)                                                             \
    X(ASN1_INTEGER_set) X(ASN1_STRING_get0_data) X(ASN1_STRING_length) X(ASN1_TIME_diff)       \
    X(ASN1_TIME_to_tm) X(BIO_clear_flags) X(BIO_ctrl) X(BIO_free) X(BIO_get_data)              \
    X(BIO_get_new_index) X(BIO_meth_new) X(BIO_meth_set_ctrl) X(BIO_meth_set_read)             \
    X(BIO_meth_set_write) X(BIO_new) X(BIO_s_mem) X(BIO_set_data) X(BIO_set_flags)             \
    X(BIO_set_init) X(BIO_write) X(CRYPTO_free) X(ERR_clear_error) X(ERR_get_error)            \
    X(ERR_peek_error) X(ERR_reason_error_string) X(EVP_Digest) X(EVP_EncodeBlock)              \
    X(EVP_PKEY_Q_keygen) X(EVP_PKEY_free) X(EVP_sha256) X(GENERAL_NAMES_free)                  \
    X(OPENSSL_sk_num) X(OPENSSL_sk_value) X(PEM_def_callback) X(SSL_CIPHER_get_name) X(SSL_CTX_check_private_key)  \
    X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_get0_privatekey) X(SSL_CTX_get_cert_store)       \
    X(SSL_CTX_load_verify_dir) X(SSL_CTX_load_verify_file)              \
    X(SSL_CTX_new) X(SSL_CTX_sess_set_new_cb) X(SSL_CTX_set_alpn_protos)                       \
    X(SSL_CTX_set_cert_cb) X(SSL_CTX_set_cert_verify_callback) X(SSL_CTX_set_client_CA_list)   \
    X(SSL_CTX_set_default_passwd_cb) X(SSL_CTX_set_default_passwd_cb_userdata)                 \
    X(SSL_CTX_set_default_read_buffer_len) X(SSL_CTX_set_default_verify_dir)                   \
    X(SSL_CTX_set_keylog_callback) X(SSL_CTX_set_options)               \
    X(SSL_CTX_set_post_handshake_auth) X(SSL_CTX_set_session_id_context) X(SSL_CTX_set_verify) \
    X(SSL_CTX_use_PrivateKey) X(SSL_CTX_use_PrivateKey_file) X(SSL_CTX_use_certificate)        \
    X(SSL_CTX_use_certificate_chain_file) X(SSL_SESSION_free)                                  \
    X(SSL_SESSION_get_protocol_version) X(SSL_alert_desc_string_long) X(SSL_ctrl)              \
    X(SSL_do_handshake) X(SSL_free) X(SSL_get0_alpn_selected) X(SSL_get0_param)                \
    X(SSL_get0_peer_certificate) X(SSL_get_certificate)                     \
    X(SSL_get_current_cipher) X(SSL_get_error) X(SSL_get_ex_data)                              \
    X(SSL_get_ex_data_X509_STORE_CTX_idx) X(SSL_get_peer_cert_chain) X(SSL_get_verify_result)  \
    X(SSL_get_version) X(SSL_get_wbio) X(SSL_has_pending) X(SSL_load_client_CA_file)           \
    X(SSL_new) X(SSL_read_ex) X(SSL_session_reused) X(SSL_set_accept_state) X(SSL_set_bio)     \
    X(SSL_set_connect_state) X(SSL_set_ex_data) X(SSL_set_session) X(SSL_set_shutdown)         \
    X(SSL_shutdown) X(SSL_write_ex) X(TLS_client_method) X(TLS_server_method)                  \
    X(X509V3_EXT_conf_nid) X(X509_EXTENSION_free) X(X509_LOOKUP_ctrl) X(X509_LOOKUP_file)      \
    X(X509_LOOKUP_get_method_data) X(X509_LOOKUP_get_store) X(X509_LOOKUP_meth_new)            \
    X(X509_LOOKUP_meth_set_get_by_subject) X(X509_LOOKUP_set_method_data)                      \
    X(X509_NAME_add_entry_by_txt) X(X509_NAME_print_ex) X(X509_OBJECT_get0_X509)               \
    X(X509_OBJECT_retrieve_by_subject) X(X509_OBJECT_set1_X509) X(X509_STORE_CTX_get0_cert)    \
    X(X509_STORE_CTX_get0_current_crl) X(X509_STORE_CTX_set_error) X(X509_verify_cert)         \
    X(X509_CRL_get0_lastUpdate) X(X509_CRL_get0_nextUpdate) X(X509_CRL_get_issuer)             \
    X(X509_STORE_CTX_get0_untrusted) X(X509_STORE_CTX_get_current_cert)                        \
    X(X509_STORE_CTX_get_error) X(X509_STORE_CTX_get_error_depth)                              \
    X(X509_STORE_CTX_get_ex_data) X(X509_STORE_add_lookup) X(X509_STORE_get0_objects)          \
    X(X509_STORE_set_flags) X(X509_VERIFY_PARAM_set1_host) X(X509_VERIFY_PARAM_set1_ip_asc)    \
    X(X509_VERIFY_PARAM_set_hostflags) X(X509_add_ext) X(X509_free) X(X509_get0_notAfter)      \
    X(X509_get0_notBefore) X(X509_get0_pubkey) X(X509_get_default_cert_file_env)               \
    X(X509_get_ext_d2i) X(X509_get_issuer_name) X(X509_get_serialNumber)                       \
    X(X509_get_subject_name) X(X509_getm_notAfter) X(X509_getm_notBefore) X(X509_gmtime_adj)   \
    X(X509_load_crl_file) X(X509_new) X(X509_set_issuer_name) X(X509_set_pubkey)               \
    X(X509_set_version) X(X509_sign) X(X509_verify_cert_error_string) X(i2d_PUBKEY)

#define X(name) inline decltype(&::name) name = nullptr;
BUFIO_OPENSSL_FUNCTIONS(X)
#undef X
// clang-format on

#endif

}  // namespace bufio
