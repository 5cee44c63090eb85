#include "app/protocol/end_text.hpp"

#include "tests/support/catch.hpp"

using bufio::By;
using bufio::Reason;
using yodel::end_text;

TEST_CASE("explains an end with the option that may help") {
    const std::string hello =
        "; the server did not answer a ClientHello of 1449 bytes, which exceeds "
        "one TCP segment and is too large for some servers and "
        "middleboxes";
    using Facts = bufio::TlsFacts;
    struct Row {
        Reason reason;
        const char* groups;
        void (*set)(Facts& facts);
        std::string remark;
    };
    const Row rows[] = {
        {Reason::timeout, "", [](Facts&) {}, ""},
        {Reason::timeout, "", [](Facts& tls) { tls.unanswered_hello_size = 1448; }, ""},
        {Reason::timeout, "", [](Facts& tls) { tls.unanswered_hello_size = 1449; },
         hello + "; --groups X25519 makes it smaller"},
        {Reason::handshake_interrupted, "X25519",
         [](Facts& tls) { tls.unanswered_hello_size = 1449; }, hello},
        {Reason::tls, "", [](Facts& tls) { tls.unanswered_hello_size = 1449; }, ""},
        {Reason::own_certificate, "", [](Facts&) {}, ""},
        {Reason::own_certificate, "", [](Facts& tls) { tls.subject = "CN=a"; },
         "; use --cert FILE and --key FILE"},
        {Reason::certificate, "", [](Facts& tls) { tls.untrusted = true; },
         "; to accept it: --cacert FILE, --pinnedpubkey P, or -k"},
        {Reason::certificate, "",
         [](Facts& tls) {
             tls.untrusted = true;
             tls.fault_count = 2;
         },
         "; to accept it: --pinnedpubkey P, or -k"},
        {Reason::certificate, "", [](Facts& tls) { tls.incomplete_chain = true; },
         "; the server should send its intermediate certificate; to accept it: "
         "--pinnedpubkey P, or -k"},
    };
    for (const auto& [reason, groups, set, remark] : rows) {
        Facts tls;
        tls.pin = "P";
        tls.fault_count = 1;
        tls.requested_groups = groups;
        set(tls);
        CHECK(end_text({reason, By::us, "it ended"}, {}, &tls) == "it ended" + remark);
        CHECK(end_text({reason, By::us, "it ended"}, {}, nullptr) == "it ended");
    }
}
