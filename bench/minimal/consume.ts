/** Consumes a quorum queue in batches, and acknowledges each batch after its effect is committed. */
import type { ChannelModel, ConsumeMessage } from 'amqplib';
import { EXCHANGE } from './event-log.ts';

export async function consumeInBatches(
  connection: ChannelModel,
  queue: string,
  types: readonly string[],
  batchDelayMs: number,
  handle: (payloads: never[]) => Promise<void>,
): Promise<void> {
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  for (const type of types) await channel.bindQueue(queue, EXCHANGE, type);
  await channel.prefetch(200);
  const pendingMessages: ConsumeMessage[] = [];
  let isProcessing = false;
  const processWaiting = async (): Promise<void> => {
    isProcessing = true;
    while (pendingMessages.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, batchDelayMs));
      const batch = pendingMessages.splice(0, 100);
      await handle(batch.map(({ content }) => JSON.parse(content.toString()) as never));
      channel.ack(batch.at(-1)!, true);
    }
    isProcessing = false;
  };
  await channel.consume(queue, (message) => {
    if (message) pendingMessages.push(message);
    if (!isProcessing) void processWaiting();
  });
}
