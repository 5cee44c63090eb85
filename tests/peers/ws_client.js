// A client made with the library ws (node-ws). It checks that a WebSocket echo server returns
// messages of all kinds and sizes, and prints what else it learned.
//
// ws_client.js URL [CODE]      closes with CODE (1000)
'use strict';
const WebSocket = require('/usr/share/nodejs/ws');

const messages = ['hello', '', Buffer.alloc(0), Buffer.from([255, 0]), '\u00fc\u20ac'.repeat(1000),
                  'x'.repeat(65536), Buffer.alloc(1 << 20, 'y')];
const [url, code] = process.argv.slice(2);
const socket = new WebSocket(url, ['first', 'second'], {rejectUnauthorized: false});
let received = 0;

function fail(text) {
    console.log(text);
    process.exit(1);
}

socket.on('open', () => {
    console.log('subprotocol', socket.protocol);
    messages.forEach((each) => socket.send(each));
    socket.send('a', {fin: false});
    socket.send('b'.repeat(100000));
    messages.push('a' + 'b'.repeat(100000));
});
socket.on('message', (data, binary) => {
    const message = messages[received++];
    const kind = typeof message !== 'string';
    if (kind !== binary || !Buffer.from(message).equals(data)) fail('reply ' + received + ' is wrong');
    if (received === messages.length) socket.ping('are you there?');
});
socket.on('pong', () => socket.close(Number(code || 1000), 'bye'));
socket.on('close', (answer) => console.log('closed', answer));
socket.on('error', (error) => fail(error.message));
