"""A TLS server that echoes lines, with optional faults.

usage: tls_server.py PORT CERTIFICATE KEY [OPTION...]

    newest=V       1.0, 1.1, 1.2 or 1.3: the newest supported version
    group=NAME     the only key exchange group, such as secp521r1
    clients=FILE   requires a certificate by the authorities of the file
    abrupt         ends each connection after a line, without close_notify
    small-hello    does not answer a ClientHello larger than a segment
"""
import socket
import ssl
import sys
import threading

import serving

SEGMENT = 1448
VERSIONS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}


def option(name):
    for argument in sys.argv[4:]:
        if argument.partition("=")[0] == name:
            return argument.partition("=")[2] or True
    return None


def new_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")  # the client judges the certificates
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = VERSIONS[option("newest") or "1.3"]
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if option("group"):
        context.set_ecdh_curve(option("group"))
    if option("clients"):
        context.load_verify_locations(option("clients"))
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def is_large(client):
    head = client.recv(5, socket.MSG_PEEK | socket.MSG_WAITALL)
    return len(head) == 5 and int.from_bytes(head[3:5], "big") > SEGMENT


def converse(context, client):
    try:
        if option("small-hello") and is_large(client):
            client.recv(1, socket.MSG_PEEK)
            threading.Event().wait()
        with context.wrap_socket(client, server_side=True) as secure:
            with secure.makefile("rb") as lines:
                for line in lines:
                    secure.sendall(line)
                    if option("abrupt"):
                        return
            secure.unwrap()
    except OSError:
        client.close()


context = new_context()
serving.serve(sys.argv[1], lambda client: converse(context, client))
