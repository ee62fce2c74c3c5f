/**
 * The commands of the receivers' README: one terminal runs a receiver, another pays an order, and the webhook arrives.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, waitUntil } from '@svc/testing';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, ROOT, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const FILES = ['express.ts', 'plain-node.ts', 'fastify.ts'];

let platform: Platform;
let folder: string;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  folder = mkdtempSync(join(tmpdir(), 'svc-receivers-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Ends the shell and all processes that it has started: they are one process group. */
async function endGroup(shell: ChildProcess): Promise<void> {
  const closed = once(shell, 'close');
  process.kill(-shell.pid!, 'SIGTERM');
  await closed;
}

it.each(FILES)('a webhook arrives at %s, for each order that is placed', async (file) => {
  const [receive, placeOrder] = documentedBlocks('receivers');
  const env = {
    ...platform.env(),
    PORT: String(await findFreePort()),
    ORDERS_FILE: join(folder, `${file}.sqlite`),
  };
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', receive!.replace(FILES[0]!, file)], {
    cwd: ROOT,
    env,
    detached: true,
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    await waitUntil('the receiver to listen', 30_000, () => Promise.resolve(output.includes('listening on')));
    for (let orders = 0; orders < 2; orders++) {
      const placed = await run('bash', ['-euo', 'pipefail', '-c', placeOrder!], env);
      expect([placed.code, placed.output]).toEqual([0, expect.stringMatching(/^order-[0-9a-f]{8}, R 123\.45\./m)]);
      const [orderId] = /order-[0-9a-f]{8}/.exec(placed.output)!;
      const [redirectUrl] = /http\S+\/pay\?\S+/.exec(placed.output)!;
      expect(await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl))).toMatchObject({
        state: 'succeeded',
      });
      await waitUntil('the webhook', 30_000, () => Promise.resolve(output.includes(`${orderId} paid by `)));
    }
  } finally {
    await endGroup(shell);
  }
});
