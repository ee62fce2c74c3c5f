import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import { PING, type Pong, REPLY_TYPES } from '../../src/rabbitmq/rabbitmq-messages.js';
import type { Topology } from '../../src/rabbitmq/rabbitmq-topology.js';
import { DEADLINE_MS } from '../harness/effects.js';

/** A replica that handles nothing by itself, so that requests stay in its queue. A test takes and answers its messages. */
export class StalledReplica {
  readonly id = randomUUID();
  readonly queue: string;

  private constructor(
    private readonly channel: Channel,
    private readonly topology: Topology,
    command: string,
  ) {
    this.queue = topology.commandQueue(command, this.id);
  }

  static async start(connection: ChannelModel, topology: Topology, command: string): Promise<StalledReplica> {
    await topology.declareExchanges(connection);
    const channel = await connection.createChannel();
    const replica = new StalledReplica(channel, topology, command);
    await topology.declareCommand(channel, command, replica.id);
    await topology.bindCommand(channel, command, replica.id);
    return replica;
  }

  /** Takes the next request. */
  takeRequest(): Promise<GetMessage> {
    return waitUntil(`a request in ${this.queue}`, DEADLINE_MS, async () => {
      const message = await this.channel.get(this.queue, { noAck: true });
      return message && message.properties.type !== PING ? message : undefined;
    });
  }

  /** Takes the next ping, which must be before all requests, and answers it. */
  async answerPing(): Promise<void> {
    const ping = await waitUntil(`a ping in ${this.queue}`, DEADLINE_MS, () =>
      this.channel.get(this.queue, { noAck: true }),
    );
    expect(ping.properties.type).toBe(PING);
    const pong: Pong = { replica: this.id, isClosing: false, unknown: [] };
    this.answer(ping, REPLY_TYPES.pong, pong);
  }

  answer({ properties }: GetMessage, type: string, content: unknown): void {
    const { correlationId } = properties as { correlationId: string };
    const body = Buffer.from(JSON.stringify(content));
    this.channel.publish(this.topology.replies, String(properties.replyTo), body, { type, correlationId });
  }

  async countWaiting(): Promise<number> {
    return (await this.channel.checkQueue(this.queue)).messageCount;
  }

  async stop(): Promise<void> {
    await this.channel.deleteQueue(this.queue);
    await this.channel.close();
  }
}
