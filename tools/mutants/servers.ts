/** A PostgreSQL for each lane, and RabbitMQ where a spec wants one. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { environmentFor } from '../svc/env-files.ts';
import type { Settings } from '../svc/settings.ts';
import { pathsOf } from '../svc/settings.ts';
import type { Steps } from '../svc/steps.ts';
import { createTestServers } from '../svc/test-servers.ts';
import { needsOf } from '../svc/test.ts';
import { newLane } from './lanes.ts';
import type { Lane } from './lanes.ts';

/** As many as the project's own tests use workers: a machine of two processors is full with them. */
const LANES = 2;

/** @param specs that may be run: only what they need is started */
export async function startLanes(
  settings: Settings,
  specs: readonly string[],
  steps: Steps,
): Promise<{ lanes: Lane[]; stop: () => Promise<void> }> {
  const needs = needsOf(specs);
  const own = { ...settings, dataDir: join(settings.dataDir, 'mutants') };
  mkdirSync(own.dataDir, { recursive: true });
  const servers = createTestServers(own);
  const lanes: Lane[] = [];
  const stop = async () => {
    for (const lane of lanes) lane.stop();
    await servers.stop();
  };
  let urls: readonly string[] = [];
  const env: Record<string, string> = {};
  if (needs.database) {
    await steps.run('PostgreSQL', async () => {
      const started = await servers.startPostgres(LANES);
      urls = started.urls.split(' ');
      await Promise.all(urls.map(saySqlStates));
      return started.description;
    });
  }
  if (needs.broker) {
    await steps.run('RabbitMQ', async () => {
      const { url, description } = await servers.startRabbitMq();
      env['SVC_TEST_AMQP_URL'] = url;
      return description;
    });
  }
  for (let number = 1; number <= LANES; number++) {
    const log = join(pathsOf(own).log, `postgres-worker-${number}-test.log`);
    const database = urls[number - 1] === undefined ? {} : { SVC_TEST_DATABASE_URLS: urls[number - 1]! };
    lanes.push(newLane(number, own.dataDir, log, environmentFor({ ...env, ...database })));
  }
  return { lanes, stop };
}

/** With its errors' codes in the log it can be told which statements PostgreSQL did not understand. */
async function saySqlStates(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('ALTER SYSTEM SET log_error_verbosity = verbose');
    await client.query('SELECT pg_reload_conf()');
  } finally {
    await client.end();
  }
}
