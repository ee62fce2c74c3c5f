/** Reads a quorum queue in batches and acknowledges each batch when its effect is committed. */
import type { ChannelModel, ConsumeMessage } from 'amqplib';
import { EXCHANGE } from './event-log.ts';

export async function consume(
  connection: ChannelModel,
  queue: string,
  types: readonly string[],
  gatherMs: number,
  handle: (payloads: never[]) => Promise<void>,
): Promise<void> {
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  for (const type of types) await channel.bindQueue(queue, EXCHANGE, type);
  await channel.prefetch(200);
  const waiting: ConsumeMessage[] = [];
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
      const batch = waiting.splice(0, 100);
      await handle(batch.map(({ content }) => JSON.parse(content.toString()) as never));
      channel.ack(batch.at(-1)!, true);
    }
    running = false;
  };
  await channel.consume(queue, (message) => {
    if (message) waiting.push(message);
    if (!running) void run();
  });
}
