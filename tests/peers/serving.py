"""What the servers and clients of this folder share."""
import socket
import ssl
import threading


def serve(port, converse):
    """Serves each connection in a thread, until the process is killed."""
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        print("listening 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=converse, args=(client,), daemon=True).start()


def server_context(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def trusting_context():
    """Returns the context of a client that accepts each certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
