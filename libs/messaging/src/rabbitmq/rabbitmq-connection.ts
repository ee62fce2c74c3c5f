import type { Socket } from 'node:net';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';

export interface ConnectionSettings {
  /** `amqp://user:password@host:port/vhost`, or `amqps://`; a secret. */
  readonly url: string;
  /** Shown by the broker's administration tools. */
  readonly name: string;
  readonly log: MessagingLog;
  /** Opens channels, declares and consumes, on each new connection before it is used. */
  readonly setUp: (model: ChannelModel) => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Both sides notice a lost connection within twice this time. */
const HEARTBEAT_SECONDS = 10;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * One connection to the broker that is opened again whenever it is lost, with everything that {@link ConnectionSettings.setUp}
 * sets up. A lost channel closes its connection too: there is one way to recover, not two. Nothing is queued here while the
 * broker is unavailable; a sender waits a limited time and then gets an error.
 */
export class RabbitMqConnection {
  /** Why the broker accepts no messages now (memory or disk alarm), or undefined. */
  blockedBecause: string | undefined;
  private model: ChannelModel | undefined;
  private usable = false;
  private closing = false;
  private readonly end = new Signal();
  private readonly waiting = new Set<() => void>();
  private running: Promise<void> | undefined;

  constructor(private readonly settings: ConnectionSettings) {}

  /** The present connection, also while it is being set up. */
  get current(): ChannelModel | undefined {
    return this.model;
  }

  get state(): 'up' | 'away' | 'blocked' {
    if (!this.usable) return 'away';
    return this.blockedBecause === undefined ? 'up' : 'blocked';
  }

  open(): void {
    this.running ??= this.run();
  }

  /** Whether there is a connection that is set up, now or within this time. */
  async isUsableWithin(milliseconds: number): Promise<boolean> {
    if (this.usable || this.closing) return this.usable;
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
    return this.usable;
  }

  /** Closes the present connection; another is opened. */
  drop(because: unknown): void {
    if (!this.model || this.closing) return;
    this.settings.log.warn(
      { err: because, connection: this.settings.name },
      'broker: connection closed after an error',
    );
    void closeQuietly(this.model);
  }

  async channel(model: ChannelModel): Promise<Channel> {
    return this.guarded(await model.createChannel(), model);
  }

  async confirmChannel(model: ChannelModel): Promise<ConfirmChannel> {
    return this.guarded(await model.createConfirmChannel(), model);
  }

  async close(): Promise<void> {
    this.closing = true;
    this.end.nudge();
    if (this.model) await closeQuietly(this.model);
    await this.running;
  }

  /** An emitter of amqplib without an `error` listener would end the process. */
  private guarded<C extends Channel>(channel: C, model: ChannelModel): C {
    let cause: unknown;
    channel.on('error', (error) => (cause = error));
    channel.on('close', () => {
      // A channel that its owner closed has no cause; the loss of a connection is handled there.
      if (cause !== undefined && this.model === model) this.drop(cause);
    });
    return channel;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.closing) {
      try {
        await this.connectOnce(() => (failures = 0));
      } catch (error) {
        if (this.closing) return;
        if (isPowerOfTwo(++failures))
          this.settings.log.warn({ err: error, connection: this.settings.name, failures }, 'broker: not connected');
      }
      await this.end.wait(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS));
    }
  }

  /** Ends when the connection is lost. */
  private async connectOnce(onUsable: () => void): Promise<void> {
    const model = await connect(withHeartbeat(this.settings.url), {
      noDelay: true,
      keepAlive: true,
      timeout: CONNECT_TIMEOUT_MS,
      clientProperties: { connection_name: this.settings.name },
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
      if (this.closing) return;
      await Promise.race([
        this.settings.setUp(model),
        lost.then(() => {
          throw cause;
        }),
      ]);
      this.usable = true;
      onUsable();
      for (const tell of [...this.waiting]) tell();
      await lost;
      throw cause;
    } finally {
      this.usable = false;
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

/** Resolves when the channel is closed or lost: amqplib never answers a close if the connection is lost meanwhile. */
export async function closeChannel(channel: Channel): Promise<void> {
  const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  try {
    await Promise.race([channel.close(), closed]);
  } catch {
    // It is already closed.
  }
}

/** Closes in order; without an answer, by force after {@link CLOSE_TIMEOUT_MS}. */
async function closeQuietly(model: ChannelModel): Promise<void> {
  const { stream } = model.connection as unknown as { stream: Socket };
  const force = setTimeout(() => stream.destroy(new Error('The broker did not answer.')), CLOSE_TIMEOUT_MS);
  const gone = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  try {
    // Without the race, a broker that never answers would keep this promise pending for ever.
    await Promise.race([model.close(), gone]);
  } catch {
    // It is already closed.
  } finally {
    clearTimeout(force);
  }
}
