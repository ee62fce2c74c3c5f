/** The lanes with their servers: a PostgreSQL for each, and RabbitMQ if a spec needs it. */
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

/** As many as the project's own tests use workers: they fully load a machine with two processors. */
const LANES = 2;

export interface Lanes {
  readonly all: readonly Lane[];
  /** For specs that need RabbitMQ: started with the first of them. */
  readonly startBroker: () => Promise<void>;
  stop(): Promise<void>;
}

/** @param specs that may run: PostgreSQL starts only if one is an integration test */
export async function startLanes(settings: Settings, specs: readonly string[], steps: Steps): Promise<Lanes> {
  const own = { ...settings, dataDir: join(settings.dataDir, 'mutants') };
  mkdirSync(own.dataDir, { recursive: true });
  const servers = createTestServers(own);
  const env: NodeJS.ProcessEnv = { SVC_PATIENCE: String(PATIENCE) };
  let urls: readonly string[] = [];
  if (needsOf(specs).databases > 0) {
    await steps.run('PostgreSQL', async () => {
      const started = await servers.startPostgres(LANES);
      urls = started.address.split(' ');
      await Promise.all(urls.map(logSqlStates));
      return started.description;
    });
  }
  const all = Array.from({ length: LANES }, (_, at) => {
    const log = join(pathsOf(own).log, `postgres-worker-${at + 1}-test.log`);
    const database = urls[at] === undefined ? {} : { SVC_TEST_DATABASE_URLS: urls[at] };
    return createLane(at + 1, own.dataDir, log, () => environmentFor({ ...env, ...database }));
  });
  return {
    all,
    async startBroker() {
      if (env['SVC_TEST_AMQP_URL'] !== undefined) return;
      await steps.run('RabbitMQ', async () => {
        const { address, description } = await servers.startRabbitMq();
        env['SVC_TEST_AMQP_URL'] = address;
        for (const lane of all) lane.stop();
        return description;
      });
    },
    async stop() {
      for (const lane of all) lane.stop();
      await servers.stop();
    },
  };
}

/** With error codes in the log, the tool recognises statements that PostgreSQL could not parse. */
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
