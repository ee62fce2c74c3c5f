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
  const stops: (() => Promise<unknown>)[] = [];
  const lanes: Lane[] = [];
  const stop = async () => {
    for (const lane of lanes) lane.stop();
    for (const end of stops.splice(0)) await end();
  };
  for (let number = 1; number <= LANES; number++) {
    const own = { ...settings, dataDir: join(settings.dataDir, 'mutants', `lane-${number}`) };
    mkdirSync(own.dataDir, { recursive: true });
    const servers = createTestServers(own);
    stops.push(() => servers.stop());
    const env: Record<string, string> = {};
    if (needs.database) {
      await steps.run(`PostgreSQL ${number}`, async () => {
        const { url, description } = await servers.startPostgres();
        await saySqlStates(url);
        env['SVC_TEST_DATABASE_URL'] = url;
        return description;
      });
    }
    if (needs.broker) {
      await steps.run(`RabbitMQ ${number}`, async () => {
        const { url, description } = await servers.startRabbitMq();
        env['SVC_TEST_AMQP_URL'] = url;
        return description;
      });
    }
    const log = join(pathsOf(own).log, 'postgres-test.log');
    lanes.push(newLane(number, own.dataDir, log, environmentFor(env)));
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
