/**
 * Starts the minimal program with its own PostgreSQL and RabbitMQ, which have the same settings as the platform's
 * (tools/svc).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startPostgres } from '../../tools/svc/postgres/postgres.ts';
import { findPostgres, stopPostgres } from '../../tools/svc/postgres/postgres-process.ts';
import { startBroker } from '../../tools/svc/rabbitmq/broker.ts';
import { findRabbitMq, stopRabbitMq } from '../../tools/svc/rabbitmq/rabbitmq-process.ts';
import { readCharges, ROOT } from '../platforms/platform.ts';
import type { RunningSystem, System } from '../platforms/system.ts';
import { SCHEMA } from './schema.ts';

const PORTS = { gateway: 18_401, postgres: 18_432, rabbitMq: 18_433 };

export const minimalSystem: System = { name: 'least code', acquirerLatencyMs: 0, start };

const DATA_DIR = join(ROOT, '.data', 'bench', 'least');
const FOLDERS = { postgres: join(DATA_DIR, 'postgres'), rabbitMq: join(DATA_DIR, 'rabbitmq') };

async function start(): Promise<RunningSystem> {
  const { superuserUrl, amqpUrl } = await startServers();
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
  const store = join(DATA_DIR, 'charges.jsonl');
  const child = await startProgram({
    DATABASE_URL: superuserUrl,
    AMQP_URL: amqpUrl,
    PORT: String(PORTS.gateway),
    API_KEY: merchant.apiKey,
    SITE_ID: merchant.siteId,
    WEBHOOK_SECRET: merchant.webhookSecret,
    ACQUIRER_STORE: store,
  });
  return {
    merchant,
    groups: {
      services: [child.pid!],
      PostgreSQL: [findPostgres(FOLDERS.postgres)!.pid],
      RabbitMQ: [findRabbitMq(FOLDERS.rabbitMq)!.pid!],
    },
    sql: async <Row extends object>(statement: string) => (await database.query(statement)).rows as Row[],
    readCharges: () => readCharges(store),
    stop: async () => {
      await database.end();
      child.kill('SIGKILL');
      await once(child, 'exit');
      await stopServers();
    },
  };
}

async function startServers(): Promise<{ superuserUrl: string; amqpUrl: string }> {
  await stopServers(); // a killed run may have left them running
  rmSync(DATA_DIR, { recursive: true, force: true });
  mkdirSync(DATA_DIR, { recursive: true });
  const password = randomBytes(16).toString('hex');
  const { superuserUrl } = await startPostgres({
    root: ROOT,
    directory: FOLDERS.postgres,
    port: PORTS.postgres,
    password,
    logFile: join(DATA_DIR, 'postgres.log'),
    durable: true,
  });
  const { url: amqpUrl } = await startBroker({
    root: ROOT,
    directory: FOLDERS.rabbitMq,
    port: PORTS.rabbitMq,
    password,
    logFile: join(DATA_DIR, 'rabbitmq.log'),
    aptLog: join(DATA_DIR, 'apt.log'),
    externalUrl: undefined,
  });
  return { superuserUrl, amqpUrl };
}

async function stopServers(): Promise<void> {
  if (findRabbitMq(FOLDERS.rabbitMq)) await stopRabbitMq(FOLDERS.rabbitMq);
  if (findPostgres(FOLDERS.postgres)) await stopPostgres(FOLDERS.postgres);
}

/** Starts the program, and resolves when it prints that it is ready. */
async function startProgram(variables: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...variables },
  });
  await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The minimal program did not start.'))),
  ]);
  return child;
}
