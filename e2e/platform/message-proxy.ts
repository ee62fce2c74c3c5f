/**
 * A TCP proxy between a process and a server. A test sees each message before the server, and can hold it back. It can
 * also cut all connections.
 */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Consumes the bytes of one connection; returns each completed message as text. */
export type MessageReader = (bytes: Buffer) => readonly string[];

export class MessageProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private connections = 0;
  /** While true, no bytes pass in either direction, and new connections end at once. */
  private isCut = false;
  /**
   * Called before the message is passed on. If it returns true, the server gets neither this message nor a later one of
   * the same connection.
   */
  onMessage: (message: string, connection: number) => boolean = () => false;

  private constructor(
    private readonly target: URL,
    private readonly newReader: () => MessageReader,
  ) {
    this.server = createServer((near) => this.join(near));
  }

  static async to(target: URL, newReader: () => MessageReader): Promise<MessageProxy> {
    const proxy = new MessageProxy(target, newReader);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The target's address through this proxy. */
  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('The proxy does not listen.');
    const url = new URL(this.target);
    url.host = `127.0.0.1:${address.port}`;
    return url.href;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Allows connections again, for the next process. */
  restore(): void {
    this.isCut = false;
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  /** Connects a socket of the process (`near`) with the server (`far`). */
  private join(near: Socket): void {
    if (this.isCut) return void near.destroy();
    const connection = ++this.connections;
    const read = this.newReader();
    const far = createConnection({ host: this.target.hostname, port: Number(this.target.port), noDelay: true });
    near.setNoDelay(true);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (this.sockets.delete(socket), other.destroy()));
    }
    let isHeld = false;
    near.on('data', (bytes) => {
      for (const message of read(bytes)) isHeld ||= this.onMessage(message, connection);
      if (!isHeld && !this.isCut) far.write(bytes);
    });
    far.on('data', (bytes) => void (this.isCut || near.write(bytes)));
  }
}

/** Texts of the statements sent to PostgreSQL, including prepared ones. */
export function postgresStatements(): MessageReader {
  const prepared = new Map<string, string>();
  let rest: Buffer = Buffer.alloc(0);
  let hasBegun = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const statements: string[] = [];
    for (;;) {
      // A message begins with its type and its length. Only the first message has no type. The length counts its own
      // bytes.
      const typeBytes = hasBegun ? 1 : 0;
      if (rest.length < typeBytes + 4) return statements;
      const end = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < end) return statements;
      const type = hasBegun ? String.fromCharCode(rest[0]!) : '';
      const [first = '', second = ''] = rest.toString('utf8', typeBytes + 4, end).split('\0', 2);
      rest = rest.subarray(end);
      hasBegun = true;
      if (type === 'Q') statements.push(first);
      if (type === 'P') prepared.set(first, second);
      if (type === 'B') statements.push(prepared.get(second) ?? '');
    }
  };
}

/** Method and path of HTTP/1.1 requests. Each request begins a new chunk, because node:http sends its head and its body together. */
export function httpRequests(): MessageReader {
  return (bytes) => {
    const [, method, path] = /^([A-Z]+) (\S+) HTTP\/1\.1\r\n/.exec(bytes.toString('latin1', 0, 2_048)) ?? [];
    return method === undefined ? [] : [`${method} ${path}`];
  };
}
