Pipe mode
=========

Each line of standard input is one message. Its reply goes to standard output, and a summary to
standard error. Status 0 means that everything came back.

  $ serve
  $ printf 'hello\nworld\n' | yodel 127.0.0.1 $PORT
  hello
  world
  yodel: 2 sent, 2 echoed, 0 bad, 0 lost; rtt min/max */* ms (glob)

Without a target, the program talks to an echo server of its own. No input is no failure.

  $ yodel </dev/null
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost

What goes in comes out: without a newline at the end, with empty lines, with bytes that would
command a terminal, with a line of a million letters, with 100,000 lines in order.

  $ printf 'a\n\nb' | yodel --quiet
  a
  
  b (no-eol)
  $ printf 'a\nb' | yodel --quiet -f nul
  a
  b (no-eol)
  $ printf '\033[2J\033]52;c;AAAA\a\23331m\n' | yodel --quiet
  \x1b[2J\x1b]52;c;AAAA\x07\x9b31m (esc)
  $ head -c 1000000 /dev/zero | tr '\0' x >long && echo >>long
  $ yodel <long | cmp - long
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  $ seq 100000 >lines && yodel --quiet <lines | cmp - lines

A framing is what marks the end of a message between client and server. Lines come back the same
through each of them.

  $ printf 'hello\n\nworld' >lines
  $ for framing in line crlf nul len1 len2 len4 len2le len4le; do
  >     serve -f $framing && yodel --quiet -f $framing 127.0.0.1 $PORT <lines | cmp - lines
  > done

With -f raw there are no messages. All bytes pass as they are, in both directions, any number of them.

  $ python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(20_000_000))' >noise
  $ yodel -f raw --quiet <noise | cmp - noise
  $ for size in 1 2 16383 65535 65536 65537 262144 2718281; do
  >     head -c $size noise >part
  >     yodel -f raw --quiet <part | cmp - part; yodel -f raw --quiet --tls <part | cmp - part
  > done

Input is sent as it comes: a line when it is complete, raw bytes immediately.

  $ { printf a; printf 'b\nc'; await ab out; printf "\n"; } | yodel --quiet >out; cat out
  ab
  c
  $ { printf a; await a raw; printf b; await ab raw; printf c; } | yodel --quiet -f raw >raw; cat raw
  abc (no-eol)

With --escapes, a message may contain bytes that are hard to type. With -x, replies are shown in hex.

  $ printf 'a\\x00\\tb\\\\\nc\\nd' | yodel --quiet --escapes -f len2 | od -c
  0000000   a  \0  \t   b   \  \n   c  \n   d
  0000011
  $ printf 'a\nb\\q\nc\n' | yodel --quiet --escapes -f len2
  a
  yodel: standard input, line 2: a backslash must be followed by n, r, t, 0, a backslash, or x and two hex digits (--escapes)
  [1]
  $ echo hi | yodel --quiet -x
  00000000  68 69                                            |hi|
