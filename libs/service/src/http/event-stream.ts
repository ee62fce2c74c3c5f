import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Sends server-sent events, and destroys their stream when the client's connection ends. */
export async function sendEventStream(reply: FastifyReply, stream: Readable): Promise<void> {
  // The stream is also destroyed if it is never read, as for a HEAD request. Otherwise it would occupy a connection
  // slot for ever.
  reply.raw.once('close', () => stream.destroy());
  if (reply.raw.destroyed) stream.destroy();
  await reply
    // A proxy that buffers responses would delay the events.
    .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
    .type('text/event-stream')
    .send(stream);
}
