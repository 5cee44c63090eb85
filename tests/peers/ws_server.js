// An echo server made with the library ws (node-ws). It prints the parts of each request that a
// client may choose, its messages, and how it closed.
//
// ws_server.js PORT [CERTIFICATE KEY]
'use strict';
const fs = require('fs');
const WebSocket = require('/usr/share/nodejs/ws');

const [port, certificate, key] = process.argv.slice(2);
const options = certificate && {cert: fs.readFileSync(certificate), key: fs.readFileSync(key)};
const http = options ? require('https').createServer(options) : require('http').createServer();
const server = new WebSocket.Server({server: http, handleProtocols: () => 'second'});

server.on('connection', (socket, request) => {
    console.log('path', request.url);
    console.log('Origin', request.headers.origin);
    console.log('Authorization', request.headers.authorization);
    console.log('subprotocol', socket.protocol);
    socket.on('message', (data, binary) => {
        console.log(binary ? 'binary' : 'text', binary ? data.length : data.toString().length);
        socket.send(data, {binary});
    });
    socket.on('close', (code) => console.log('closed', code));
});
http.listen(Number(port), '127.0.0.1', () => console.log('listening 127.0.0.1:' + http.address().port));
