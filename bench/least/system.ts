/** The least code on servers of its own, set up exactly as the platform's (tools/svc). */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startBroker } from '../../tools/svc/broker.ts';
import { startPostgres } from '../../tools/svc/postgres.ts';
import { findPostgres, stopPostgres } from '../../tools/svc/postgres-process.ts';
import { findRabbitMq, stopRabbitMq } from '../../tools/svc/rabbitmq-process.ts';
import { readCharges, ROOT } from '../hosted-payment/platform.ts';
import type { RunningSystem, System } from '../hosted-payment/system.ts';
import { SCHEMA } from './schema.ts';

const PORTS = { gateway: 18_401, postgres: 18_432, rabbitMq: 18_433 };

export const leastCode: System = { name: 'least code', start };

async function start(acquirerLatencyMs: number): Promise<RunningSystem> {
  const dataDir = join(ROOT, '.data', 'bench', 'least');
  const folders = { postgres: join(dataDir, 'postgres'), rabbitMq: join(dataDir, 'rabbitmq') };
  const stopServers = async (): Promise<void> => {
    if (findRabbitMq(folders.rabbitMq)) await stopRabbitMq(folders.rabbitMq);
    if (findPostgres(folders.postgres)) await stopPostgres(folders.postgres);
  };
  await stopServers(); // of a run that was killed
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const password = randomBytes(16).toString('hex');
  const { superuserUrl } = await startPostgres({
    root: ROOT,
    directory: folders.postgres,
    port: PORTS.postgres,
    password,
    logFile: join(dataDir, 'postgres.log'),
    durable: true,
  });
  const broker = await startBroker({
    root: ROOT,
    directory: folders.rabbitMq,
    port: PORTS.rabbitMq,
    password,
    logFile: join(dataDir, 'rabbitmq.log'),
    aptLog: join(dataDir, 'apt.log'),
    givenUrl: undefined,
  });
  const database = new pg.Client({ connectionString: superuserUrl });
  database.on('error', () => undefined);
  await database.connect();
  await database.query(SCHEMA);

  const merchant = {
    gatewayUrl: `http://127.0.0.1:${PORTS.gateway}`,
    merchantId: '1',
    siteId: '1',
    apiKey: randomBytes(32).toString('base64url'),
    webhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
  };
  const store = join(dataDir, 'charges.jsonl');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: superuserUrl,
      AMQP_URL: broker.url,
      PORT: String(PORTS.gateway),
      API_KEY: merchant.apiKey,
      SITE_ID: merchant.siteId,
      WEBHOOK_SECRET: merchant.webhookSecret,
      ACQUIRER_STORE: store,
      ACQUIRER_LATENCY_MS: String(acquirerLatencyMs),
    },
  });
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The least code did not start.'))),
  ]);
  return {
    merchant,
    groups: {
      services: [child.pid!],
      PostgreSQL: [findPostgres(folders.postgres)!.pid],
      RabbitMQ: [findRabbitMq(folders.rabbitMq)!.pid!],
    },
    sql: async <Row extends object>(statement: string) => (await database.query(statement)).rows as Row[],
    charged: () => readCharges(store),
    stop: async () => {
      await database.end();
      child.kill('SIGKILL');
      await once(child, 'exit');
      await stopServers();
    },
  };
}
