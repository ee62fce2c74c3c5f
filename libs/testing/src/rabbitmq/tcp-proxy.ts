import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy between one process and a server. A test controls the proxy. The test can break the connections, as a
 * crash of the process would, and can hold back the data from the server, so that a publisher waits for its
 * confirmations.
 */
export class TcpProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isHolding = false;
  /** Bytes that the process has sent to the server. */
  bytesSent = 0;

  private constructor(
    private readonly host: string,
    private readonly port: number,
  ) {
    this.server = createServer((clientSocket) => this.connect(clientSocket));
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

  get hasConnections(): boolean {
    return this.sockets.size > 0;
  }

  /** Breaks all connections. New connections are accepted. */
  breakConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Holds back all data from the server until {@link dropHeldResponses} is called. */
  holdResponses(): void {
    this.isHolding = true;
  }

  /** Breaks all connections, so that the held data is lost. Data on new connections is passed on again. */
  dropHeldResponses(): void {
    this.isHolding = false;
    this.breakConnections();
  }

  /** Breaks all connections and permanently rejects new connections. */
  cut(): void {
    this.server.close();
    this.breakConnections();
  }

  private connect(clientSocket: Socket): void {
    const serverSocket = createConnection({ host: this.host, port: this.port, noDelay: true });
    clientSocket.setNoDelay(true);
    for (const [socket, other] of [
      [clientSocket, serverSocket],
      [serverSocket, clientSocket],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (this.sockets.delete(socket), other.destroy()));
    }
    clientSocket.on('data', (bytes) => ((this.bytesSent += bytes.length), serverSocket.write(bytes)));
    serverSocket.on('data', (bytes) => void (this.isHolding || clientSocket.write(bytes)));
  }
}
