/** Starts the lanes and their servers: a PostgreSQL for each lane, and one RabbitMQ if a spec needs it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { PATIENCE } from '../../svc/base/patience.ts';
import type { Steps } from '../../svc/base/steps.ts';
import { environmentFor } from '../../svc/processes/env-files.ts';
import type { Settings } from '../../svc/settings/settings.ts';
import { pathsOf } from '../../svc/settings/settings.ts';
import { needsOf } from '../../svc/test/test.ts';
import { createTestServers } from '../../svc/test/test-servers.ts';
import type { Lane } from './lanes.ts';
import { createLane } from './lanes.ts';

/** Two lanes (child processes that run specs) fully load a machine with two processors. */
const LANES = 2;

export interface Lanes {
  readonly all: readonly Lane[];
  /** Starts RabbitMQ, for specs that need it, unless it already runs. */
  readonly startBroker: () => Promise<void>;
  stop(): Promise<void>;
}

/** @param specs the specs that may run: PostgreSQL starts only if one of them is an integration test */
export async function startLanes(settings: Settings, specs: readonly string[], steps: Steps): Promise<Lanes> {
  const ownSettings = { ...settings, dataDir: join(settings.dataDir, 'mutants') };
  mkdirSync(ownSettings.dataDir, { recursive: true });
  const servers = createTestServers(ownSettings);
  const env: NodeJS.ProcessEnv = { SVC_PATIENCE: String(PATIENCE) };
  let urls: readonly string[] = [];
  if (needsOf(specs).databases > 0) {
    const { address } = await steps.run('PostgreSQL', () => servers.startPostgres(LANES));
    urls = address.split(' ');
    await Promise.all(urls.map(logSqlStates));
  }
  const all = Array.from({ length: LANES }, (_, index) => {
    const log = join(pathsOf(ownSettings).log, `postgres-worker-${index + 1}-test.log`);
    const database = urls[index] === undefined ? {} : { SVC_TEST_DATABASE_URLS: urls[index] };
    return createLane(
      index + 1,
      ownSettings.dataDir,
      log,
      () => environmentFor({ ...env, ...database }),
      () => hasOpenTransaction(urls[index]),
    );
  });
  return {
    all,
    async startBroker() {
      if (env['SVC_TEST_AMQP_URL'] !== undefined) return;
      const { address, managementAddress } = await steps.run('RabbitMQ', () => servers.startRabbitMq());
      env['SVC_TEST_AMQP_URL'] = address;
      env['SVC_TEST_RABBITMQ_MANAGEMENT_URL'] = managementAddress;
      for (const lane of all) lane.stop();
    },
    async stop() {
      for (const lane of all) lane.stop();
      await servers.stop();
    },
  };
}

/**
 * Writes error codes into the server's log, by which the tool recognises statements that PostgreSQL could not parse.
 */
async function logSqlStates(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('ALTER SYSTEM SET log_error_verbosity = verbose');
    await client.query('SELECT pg_reload_conf()');
  } finally {
    await client.end();
  }
}

async function hasOpenTransaction(url: string | undefined): Promise<boolean> {
  if (url === undefined) return false;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query(`SELECT FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`);
    return rowCount !== 0;
  } finally {
    await client.end();
  }
}
