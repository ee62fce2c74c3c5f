import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Sends server-sent events, and destroys their stream when the client's connection ends. */
export async function sendEventStream(reply: FastifyReply, stream: Readable): Promise<void> {
  // Also where the client never reads: a HEAD is answered at once, and its stream would keep a place.
  reply.raw.once('close', () => stream.destroy());
  if (reply.raw.destroyed) stream.destroy();
  await reply
    // A proxy that gathers what it forwards would hold the events back.
    .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
    .type('text/event-stream')
    .send(stream);
}
