#!/bin/sh
# Makes a certificate of each class that a TLS client must judge: FOLDER/CLASS.pem, the chain that
# the server sends, and FOLDER/CLASS.key. FOLDER/ca.pem is the authority that clients trust.
#
# usage: tls_classes.sh FOLDER
set -eu
cd "$1"
exec 2>openssl.log

key() { # NAME [ALGORITHM OPTION]
    openssl genpkey -algorithm "${2:-EC}" -pkeyopt "${3:-ec_paramgen_curve:P-256}" -out "$1.key"
}

authority() { # NAME
    key "$1"
    openssl req -x509 -key "$1.key" -out "$1.pem" -days 30 -subj "/CN=$1"
}

configuration() { # AUTHORITY SECTION NAMES
    : >>index
    cat <<END
[ca]
default_ca = own
[own]
certificate = $1.pem
private_key = $1.key
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = policy
unique_subject = no
email_in_dn = no
[policy]
commonName = supplied
[leaf]
basicConstraints = CA:FALSE
${3:+subjectAltName = $3}
[authority]
basicConstraints = critical,CA:TRUE
END
}

# The subject is the class unless SUBJECT is set.
issue() { # CLASS AUTHORITY SECTION NAMES [OPTION...]
    class=$1 by=$2 section=$3
    configuration "$by" "$section" "$4" >"$class.cnf"
    shift 4
    [ -f "$class.key" ] || key "$class"
    openssl req -new -key "$class.key" -subj "/CN=${SUBJECT:-$class}" -out "$class.csr"
    openssl ca -batch -notext -config "$class.cnf" -extensions "$section" -in "$class.csr" \
        -out "$class.pem" "$@"
}

day() { # OFFSET, as `openssl ca` takes dates
    date -u -d "$1 day" +%Y%m%d%H%M%SZ
}

host=DNS:localhost,IP:127.0.0.1
authority "ca"
authority "unknown"
issue intermediate ca authority "" -days 20
issue right ca leaf $host -days 20
issue expired ca leaf $host -startdate "$(day -20)" -enddate "$(day -10)"
issue early ca leaf $host -startdate "$(day 5)" -enddate "$(day 10)"
issue elsewhere ca leaf DNS:example.org -days 20
issue untrusted unknown leaf $host -days 20
issue chained intermediate leaf $host -days 20
cp chained.key incomplete.key
cp chained.pem incomplete.pem
cat intermediate.pem >>chained.pem
issue nameless ca leaf "" -days 20
SUBJECT=localhost issue common ca leaf "" -days 20
issue sha1 ca leaf $host -days 20 -md sha1
key short RSA rsa_keygen_bits:1024
issue short ca leaf $host -days 20
issue client ca leaf "" -days 20
issue stranger unknown leaf "" -days 20
key alone
openssl req -x509 -key alone.key -out alone.pem -days 20 -subj /CN=alone -addext "subjectAltName=$host"
