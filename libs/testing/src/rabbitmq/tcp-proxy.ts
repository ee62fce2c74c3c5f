import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/**
 * The network between one process and the broker, controlled by a test. The test can cut it, like `kill -9` of the process, and can
 * hold back the broker's data, so that a publisher waits for confirmations.
 */
export class TcpProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private holding = false;
  /** Bytes the process has sent towards the broker. */
  bytesSent = 0;

  private constructor(
    private readonly host: string,
    private readonly port: number,
  ) {
    this.server = createServer((near) => this.join(near));
  }

  static async to(host: string, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(host, port);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get localPort(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('The proxy does not listen.');
    return address.port;
  }

  /** Breaks every connection; new ones are accepted. */
  breakConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Holds back all data from the broker, until the connections are broken. */
  holdResponses(): void {
    this.holding = true;
  }

  /** Passes the broker's data on new connections; data held back is lost with its connection. */
  dropHeldResponses(): void {
    this.holding = false;
    this.breakConnections();
  }

  /** Breaks every connection and rejects new ones, for good. */
  cut(): void {
    this.server.close();
    this.breakConnections();
  }

  private join(near: Socket): void {
    const far = createConnection({ host: this.host, port: this.port, noDelay: true });
    near.setNoDelay(true);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (this.sockets.delete(socket), other.destroy()));
    }
    near.on('data', (bytes) => ((this.bytesSent += bytes.length), far.write(bytes)));
    far.on('data', (bytes) => void (this.holding || near.write(bytes)));
  }
}
