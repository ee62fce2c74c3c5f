/** Sends webhooks through two common job queues: BullMQ on Redis, and graphile-worker in PostgreSQL. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startDatabase } from '../alternatives/database.ts';
import { type Alternative, installAlternative } from '../alternatives/install.ts';
import { ROOT } from '../platforms/platform.ts';
import type { JobSettings } from './job-program.ts';
import { startRedis } from './redis.ts';
import type { RunningWebhookSender, WebhookSender } from './sender.ts';

const PORTS = { redis: 18_511, postgres: 18_512 };

export const bullMq: WebhookSender = {
  name: 'BullMQ on Redis',
  description: 'the append-only file is synced once a second; a finished job is deleted',
  start: () => start('bullmq', 'Redis', (folder) => startRedis(folder, PORTS.redis)),
};

export const graphileWorker: WebhookSender = {
  name: 'graphile-worker 0.16',
  description: 'PostgreSQL with the same settings, each commit synced; a finished job is deleted',
  start: () => start('graphile-worker', 'PostgreSQL', (folder) => startDatabase(folder, PORTS.postgres)),
};

interface Server {
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

async function start(
  name: Alternative,
  group: string,
  startServer: (folder: string) => Promise<Server>,
): Promise<RunningWebhookSender> {
  const dataDir = join(ROOT, '.data', 'bench', name);
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const server = await startServer(dataDir);
  const settings: JobSettings = {
    folder: installAlternative(name),
    address: server.address,
    secret: `whsec_${randomBytes(24).toString('base64')}`,
  };
  const program = spawn(process.execPath, [join(import.meta.dirname, `${name}-program.ts`), JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(createInterface({ input: program.stdout }), 'line'),
    once(program, 'exit').then(() => Promise.reject(new Error(`${name} did not start.`))),
  ]);
  return {
    secret: settings.secret,
    groups: { services: [program.pid!], [group]: [server.pid] },
    send: ({ url }, count) => {
      program.stdin.write(`${JSON.stringify({ url, count })}\n`);
      return Promise.resolve();
    },
    stop: async () => {
      program.kill('SIGTERM');
      await once(program, 'exit');
      await server.stop();
    },
  };
}
