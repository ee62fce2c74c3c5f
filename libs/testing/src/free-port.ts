import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Even ports below the range from which systems choose ports for outgoing connections and for port 0: another process
 * could get such a port before the caller listens on it. They are above 10080, the last port that `fetch` refuses.
 */
const FIRST_PORT = 10_100;
const PORTS = 2_450;
const ATTEMPTS_MAX = 50;
/** How long a port belongs to its caller, who has begun to listen by then. */
const RESERVED_MS = 300_000;

/**
 * A port of the loopback interface that is free at this moment. No other call returns it within the next five minutes,
 * in any process: the call listens on the next port for so long.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = FIRST_PORT + 2 * randomInt(PORTS);
    const reservation = await listen(port + 1);
    const server = reservation && (await listen(port));
    if (server === undefined) {
      reservation?.close();
      continue;
    }
    setTimeout(() => reservation?.close(), RESERVED_MS).unref();
    await once(server.close(), 'close');
    return port;
  }
  throw new Error(`None of ${ATTEMPTS_MAX} ports from ${FIRST_PORT} is free.`);
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1').unref();
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
