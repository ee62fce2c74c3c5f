import { withDeadline } from '@svc/kernel';
import type { Channel, ChannelModel } from 'amqplib';
import type { UnattachedQueue } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { Signal } from '../signal.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';
import { BrokerUnavailableError } from './rabbitmq-publisher.js';
import type { Topology } from './rabbitmq-topology.js';

/** A consumer that attaches to its queue again after it has lost its channel or its connection. */
export interface Attachment {
  readonly queue: Omit<UnattachedQueue, 'seconds'>;
  /**
   * Declares the queue and consumes it on this channel, which belongs to the attachment from now on. When the queue is
   * lost, the attachment closes the channel.
   */
  attach(channel: Channel, model: ChannelModel): Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** An attempt that lasts longer is abandoned: a queue without a quorum does not respond. */
const ATTEMPT_TIMEOUT_MS = 10_000;
/**
 * Longest time that a start waits for the broker. After that, the service starts without the broker, and attaches its
 * consumers when the broker is available.
 */
const ATTACH_WAIT_MS = 5_000;

interface AttachmentState {
  readonly onAttached: () => void;
  isRemoved: boolean;
  /** Time of the loss of the queue, or undefined while it is attached. */
  lostAt: number | undefined;
  /** Ends the pause of the current connection's attempts. */
  pause: Signal;
}

/**
 * Keeps each consumer attached to its queue. Each consumer has a separate channel and separate retries with a growing
 * pause, so a queue that cannot be read does not affect the other queues.
 */
export class Attachments {
  private readonly states = new Map<Attachment, AttachmentState>();
  private readonly openedAt = performance.now();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly log: MessagingLog,
  ) {}

  /** Attaches now or at the first connection, and again after each loss. Resolves when attached, or after a few seconds. */
  async add(attachment: Attachment): Promise<void> {
    const firstAttach = Promise.withResolvers<void>();
    const state: AttachmentState = {
      onAttached: firstAttach.resolve,
      isRemoved: false,
      lostAt: undefined,
      pause: new Signal(),
    };
    this.states.set(attachment, state);
    const model = this.connection.current;
    if (model) void this.keepAttached(attachment, state, model);
    // All attachments of a start share one deadline.
    const waitMs = model ? ATTACH_WAIT_MS : Math.max(0, this.openedAt + ATTACH_WAIT_MS - performance.now());
    await withDeadline(firstAttach.promise, waitMs, () => {
      throw new BrokerUnavailableError('The broker is unavailable.');
    }).catch((error: unknown) => this.log.warn({ err: error }, 'broker: unavailable, continuing without it'));
  }

  remove(attachment: Attachment): void {
    const state = this.states.get(attachment);
    if (!state) return;
    this.states.delete(attachment);
    state.isRemoved = true;
    state.pause.nudge();
  }

  /** Attaches every consumer to a new connection. Resolves when each has been attached, or has failed once. */
  async attachAll(model: ChannelModel): Promise<void> {
    await Promise.all([...this.states].map(([attachment, state]) => this.keepAttached(attachment, state, model)));
  }

  get all(): readonly Attachment[] {
    return [...this.states.keys()];
  }

  /** The queues that are not attached although the broker is connected. */
  get unattached(): UnattachedQueue[] {
    if (this.connection.current === undefined) return [];
    return [...this.states].flatMap(([{ queue }, { lostAt }]) =>
      lostAt === undefined ? [] : [{ ...queue, seconds: (performance.now() - lostAt) / 1_000 }],
    );
  }

  /**
   * Attaches until the consumer is removed or the connection is lost. Resolves after the first attempt, and makes
   * further attempts in the background.
   */
  private async keepAttached(attachment: Attachment, state: AttachmentState, model: ChannelModel): Promise<void> {
    const attempted = Promise.withResolvers<void>();
    // The attempts on an earlier connection end.
    state.pause.nudge();
    state.pause = new Signal();
    void this.attachRepeatedly(attachment, state, model, attempted.resolve).finally(attempted.resolve);
    await attempted.promise;
  }

  private async attachRepeatedly(
    attachment: Attachment,
    state: AttachmentState,
    model: ChannelModel,
    onAttempt: () => void,
  ): Promise<void> {
    const { pause } = state;
    const isNeeded = (): boolean => !state.isRemoved && this.connection.current === model;
    const { name: queue } = attachment.queue;
    state.lostAt = performance.now();
    for (let failures = 0; isNeeded();) {
      try {
        const { closed } = await this.attachOnce(attachment, model);
        state.lostAt = undefined;
        if (failures > 0) this.log.info({ queue }, 'broker: queue attached again');
        failures = 0;
        state.onAttached();
        onAttempt();
        const cause = await closed;
        // A lost connection closes its channels before it reports its loss.
        await new Promise(setImmediate);
        if (!isNeeded()) return;
        state.lostAt = performance.now();
        throw cause;
      } catch (error) {
        onAttempt();
        if (!isNeeded()) return;
        if (++failures === 1) this.log.warn({ err: error, queue }, 'broker: queue not attached, will be retried');
        await pause.wait(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS));
      }
    }
  }

  /** Returns a promise that resolves to the cause when the channel is closed. */
  private async attachOnce(attachment: Attachment, model: ChannelModel): Promise<{ closed: Promise<unknown> }> {
    const attaching = this.openAndAttach(attachment, model);
    const error = new BrokerUnavailableError(`${attachment.queue.name} did not respond in time.`);
    return withDeadline(attaching.result, ATTEMPT_TIMEOUT_MS, () => {
      attaching.abandon();
      throw error;
    });
  }

  private openAndAttach(
    attachment: Attachment,
    model: ChannelModel,
  ): { readonly result: Promise<{ closed: Promise<unknown> }>; readonly abandon: () => void } {
    let channel: Channel | undefined;
    let isAbandoned = false;
    const abandon = (): void => {
      isAbandoned = true;
      if (channel) void closeChannel(channel);
    };
    const attach = async (): Promise<{ closed: Promise<unknown> }> => {
      await this.topology.declareExchanges(model);
      channel = await model.createChannel();
      if (isAbandoned) abandon();
      let cause: unknown = new Error(`${attachment.queue.name} was lost.`);
      channel.on('error', (error) => (cause = error));
      const closed = new Promise<unknown>((resolve) => channel!.once('close', () => resolve(cause)));
      const lost = closed.then((error) => {
        throw error;
      });
      lost.catch(() => undefined);
      try {
        await Promise.race([attachment.attach(channel, model), lost]);
      } catch (error) {
        abandon();
        throw error;
      }
      return { closed };
    };
    return { result: attach(), abandon };
  }
}
