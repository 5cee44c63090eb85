Certificates of a server
========================

  $ need openssl

A client that shows the printed pin's certificate needs no authority.

  $ serve --self-signed
  $ pin=$(grep -o 'sha256//.*=' $LOG)
  $ echo a | yodel --quiet --tls --pinnedpubkey $pin localhost $PORT
  a

On HUP it reads the certificates again, and keeps the old ones if it cannot. It asks for no pass phrase, and waits for
no FIFO.

  $ certify server IP:127.0.0.1
  $ subject() { yodel -v -z --cacert ca.pem tls://127.0.0.1:$PORT 2>&1 | grep -o 'CN=[a-z]*'; }
  $ reload() { lines=$(wc -l <$LOG); kill -HUP $SERVER; until [ $(wc -l <$LOG) -gt $lines ]; do sleep 0.01; done; tail -n 1 $LOG; subject; }
  $ cp server.pem used.pem && cp server.key used.key
  $ serve --tls --cert used.pem --key used.key && subject
  CN=server
  $ certify next IP:127.0.0.1 && cp next.pem used.pem && cp next.key used.key && reload
  20* yodeld: certificates reloaded (glob)
  CN=next
  $ rm used.key && reload
  20* yodeld: cannot reload the certificates; the old ones stay in use: key used.key: No such file or directory (glob)
  CN=next
  $ mkfifo used.key && reload
  20* yodeld: cannot reload the certificates; the old ones stay in use: used.key is not a regular file, so reading it now could block (glob)
  CN=next
  $ rm used.key && openssl ec -in next.key -aes256 -passout pass:secret -out used.key 2>log && reload
  20* yodeld: cannot reload the certificates; the old ones stay in use: key used.key is encrypted, and a reload can't ask for its pass phrase (glob)
  CN=next
