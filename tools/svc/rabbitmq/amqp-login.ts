/**
 * Whether a RabbitMQ lets somebody in: the first two steps of AMQP 0-9-1's handshake, which need no package. An open
 * port is not enough: a broker that starts listens before it can take a login.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export type LoginAnswer = 'accepted' | 'refused' | 'no answer';

const PROTOCOL_HEADER = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);
const CONNECTION_CLASS = 10;
const START = 10;
const TUNE = 30;
const CLOSE = 50;
const FRAME_END = 0xce;
/** Asks to be told that a login is refused; otherwise the broker is silent for a while and hangs up. */
const PROPERTIES = table(
  Buffer.concat([
    shortText('capabilities'),
    Buffer.from('F'),
    table(Buffer.concat([shortText('authentication_failure_close'), Buffer.from('t'), Buffer.from([1])])),
  ]),
);
const ANSWER_MILLISECONDS = 3000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** @param url amqp:// or amqps:// address with user and password */
export function tryLogin(url: string): Promise<LoginAnswer> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'amqps:';
  const address = { host, port: Number(port || (isSecure ? 5671 : 5672)) };
  const user = decodeURIComponent(username || 'guest');
  const secret = decodeURIComponent(password || 'guest');
  return new Promise((resolve) => {
    const socket: Socket = isSecure ? connectTls({ ...address, servername: host }) : connect(address);
    let isAsked = false;
    let received = Buffer.alloc(0);
    const finish = (answer: LoginAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_MILLISECONDS, () => finish('no answer'));
    socket.once('error', () => finish('no answer'));
    socket.once('close', () => finish(isAsked ? 'refused' : 'no answer'));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => socket.write(PROTOCOL_HEADER));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length > ANSWER_BYTES_MAX) return finish('no answer');
      for (let method = readMethod(received); method !== undefined; method = readMethod(received)) {
        received = received.subarray(method.frameLength);
        if (method.id === START) {
          isAsked = true;
          socket.write(startOk(user, secret));
        } else if (method.id === TUNE || method.id === CLOSE) {
          return finish(method.id === TUNE ? 'accepted' : 'refused');
        }
      }
    });
  });
}

/** The first whole frame, if it is a method of the connection. */
function readMethod(bytes: Buffer): { id: number; frameLength: number } | undefined {
  if (bytes.length < 12) return undefined;
  const frameLength = 7 + bytes.readUInt32BE(3) + 1;
  if (bytes.length < frameLength || bytes.readUInt16BE(7) !== CONNECTION_CLASS) return undefined;
  return { id: bytes.readUInt16BE(9), frameLength };
}

function startOk(user: string, password: string): Buffer {
  const response = Buffer.from(`\0${user}\0${password}`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(response.length);
  const method = Buffer.from([0, CONNECTION_CLASS, 0, 11]);
  const payload = Buffer.concat([method, PROPERTIES, shortText('PLAIN'), length, response, shortText('en_US')]);
  const head = Buffer.alloc(7);
  head.writeUInt8(1, 0); // a method, on channel 0
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.from([FRAME_END])]);
}

function table(content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}
