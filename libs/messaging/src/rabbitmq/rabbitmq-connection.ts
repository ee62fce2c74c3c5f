import type { Socket } from 'node:net';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';

/** The nodes of the broker. The connections of a process share this object, so that they begin at the same node. */
export class BrokerNodes {
  private index = 0;

  /** @param urls in the order in which they are tried. The URLs are secrets */
  constructor(private readonly urls: readonly string[]) {}

  get count(): number {
    return this.urls.length;
  }

  get current(): string {
    return this.urls[this.index]!;
  }

  /** Chooses the next node, unless another connection has already left this one. */
  leave(url: string): void {
    if (url === this.current) this.index = (this.index + 1) % this.urls.length;
  }
}

export interface ConnectionSettings {
  readonly nodes: BrokerNodes;
  /** Shown by the broker's administration tools. */
  readonly name: string;
  readonly log: MessagingLog;
  /** Opens channels, declares and consumes, on each new connection before it is used. */
  readonly setUp: (model: ChannelModel) => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Both sides notice a lost connection within twice this time. With less than 5 s, a busy broker loses connections. */
const HEARTBEAT_SECONDS = 5;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** Reply code of AMQP. */
const ACCESS_REFUSED = 403;

/**
 * A connection to the broker. When it is lost, it is opened again, to the next node, and set up again with
 * {@link ConnectionSettings.setUp}. If a channel of {@link confirmChannel} is lost, the whole connection is closed too,
 * unless its owner replaces the channel after a refusal. This class does not queue messages while the broker is
 * unavailable: a sender waits a limited time and then gets an error.
 */
export class RabbitMqConnection {
  /** Reason why the broker accepts no messages now (memory or disk alarm), or undefined. */
  blockedBecause: string | undefined;
  /** The connection of amqplib, which amqplib calls a channel model. */
  private model: ChannelModel | undefined;
  private isUsable = false;
  /** The last connection that was given up. It may need seconds to close. */
  private dropped: ChannelModel | undefined;
  private isClosing = false;
  private unavailableSince = performance.now();
  private url = '';
  private readonly stopSignal = new Signal();
  private readonly waiting = new Set<() => void>();
  private running: Promise<void> | undefined;

  constructor(private readonly settings: ConnectionSettings) {}

  /** The current connection, even while it is being set up. */
  get current(): ChannelModel | undefined {
    return this.model;
  }

  get state(): 'up' | 'unavailable' | 'blocked' {
    if (!this.isUsable) return 'unavailable';
    return this.blockedBecause === undefined ? 'up' : 'blocked';
  }

  /** Time since the connection was lost, or 0. */
  get unavailableMs(): number {
    return this.isUsable ? 0 : performance.now() - this.unavailableSince;
  }

  open(): void {
    this.running ??= this.run();
  }

  /** Whether a connection is set up now, or will be within this time. */
  async isUsableWithin(milliseconds: number): Promise<boolean> {
    if (this.isUsable || this.isClosing) return this.isUsable;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, milliseconds);
      const { waiting } = this;
      waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
    });
    return this.isUsable;
  }

  /** Closes the current connection, and opens a connection to the next node, because this one does not respond. */
  leaveNode(cause: unknown): void {
    if (!this.model || this.isClosing || this.dropped === this.model) return;
    this.settings.nodes.leave(this.url);
    this.drop(cause);
  }

  /** Closes the current connection. A new connection to the same node is then opened. */
  drop(cause: unknown): void {
    if (!this.model || this.isClosing || this.dropped === this.model) return;
    this.dropped = this.model;
    this.markUnavailable();
    this.settings.log.warn({ err: cause, connection: this.settings.name }, 'broker: connection closed after an error');
    void closeQuietly(this.model);
  }

  /**
   * @param onRefused called when the broker closes the channel because the permissions do not allow a message. Without
   *   it, the connection is closed, as after any other error.
   */
  async confirmChannel(model: ChannelModel, onRefused?: (cause: unknown) => void): Promise<ConfirmChannel> {
    return this.guarded(await model.createConfirmChannel(), model, onRefused);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    this.stopSignal.nudge();
    if (this.model) await closeQuietly(this.model);
    await this.running;
  }

  /** Adds an `error` listener, because an error of a channel without a listener would end the process. */
  private guarded<C extends Channel>(channel: C, model: ChannelModel, onRefused?: (cause: unknown) => void): C {
    let cause: unknown;
    channel.on('error', (error) => (cause = error));
    channel.on('close', () => {
      // There is no cause if the owner of the channel closed it. Another listener handles a lost connection.
      if (cause === undefined || this.model !== model) return;
      if (onRefused && (cause as { code?: unknown }).code === ACCESS_REFUSED) onRefused(cause);
      else this.drop(cause);
    });
    return channel;
  }

  private markUnavailable(): void {
    if (this.isUsable) this.unavailableSince = performance.now();
    this.isUsable = false;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.isClosing) {
      try {
        await this.runConnection(() => (failures = 0));
      } catch (error) {
        if (this.isClosing) return;
        if (isPowerOfTwo(++failures))
          this.settings.log.warn({ err: error, connection: this.settings.name, failures }, 'broker: not connected');
      }
      // The pause grows after each round, because another node may accept the connection immediately.
      const rounds = Math.floor(failures / this.settings.nodes.count);
      await this.stopSignal.wait(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(rounds, 10), MAX_PAUSE_MS));
    }
  }

  /** Connects and sets up. Returns only when this connection has ended: throws if it was lost. */
  private async runConnection(onUsable: () => void): Promise<void> {
    const { nodes, name } = this.settings;
    this.url = nodes.current;
    const model = await connect(withHeartbeat(this.url), {
      noDelay: true,
      keepAlive: true,
      timeout: CONNECT_TIMEOUT_MS,
      clientProperties: { connection_name: name },
    }).catch((error: unknown) => {
      nodes.leave(this.url);
      throw error;
    });
    let cause: unknown = new Error('The connection was closed.');
    model.on('error', (error) => (cause = error));
    const lost = new Promise<void>((resolve) => model.once('close', () => resolve()));
    model.on('blocked', (reason) => {
      this.blockedBecause = reason;
      this.settings.log.warn({ reason, connection: this.settings.name }, 'broker: blocked, accepts no messages');
    });
    model.on('unblocked', () => (this.blockedBecause = undefined));
    this.model = model;
    try {
      if (this.isClosing) return;
      await Promise.race([
        this.settings.setUp(model),
        lost.then(() => {
          throw cause;
        }),
      ]);
      this.isUsable = true;
      onUsable();
      for (const resolveWaiting of [...this.waiting]) resolveWaiting();
      await lost;
      if (this.dropped !== model) nodes.leave(this.url);
      throw cause;
    } finally {
      this.markUnavailable();
      this.model = undefined;
      this.blockedBecause = undefined;
      await closeQuietly(model);
    }
  }
}

function withHeartbeat(url: string): string {
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return address.href;
}

/**
 * Resolves when the channel is closed or lost. amqplib's close() never resolves if the connection is lost during it.
 */
export async function closeChannel(channel: Channel): Promise<void> {
  const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  try {
    await Promise.race([channel.close(), closed]);
  } catch {
    // The channel is already closed.
  }
}

/**
 * Closes the connection with AMQP's close handshake. Destroys the socket if the broker does not respond within {@link
 * CLOSE_TIMEOUT_MS}.
 */
async function closeQuietly(model: ChannelModel): Promise<void> {
  const { stream } = model.connection as unknown as { stream: Socket };
  const force = setTimeout(() => stream.destroy(new Error('The broker did not answer.')), CLOSE_TIMEOUT_MS);
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  try {
    // Without the race, this promise would never resolve if the broker does not respond.
    await Promise.race([model.close(), closed]);
  } catch {
    // The connection is already closed.
  } finally {
    clearTimeout(force);
  }
}
