/** Starts the servers for tests, each with its own data below the test folder, and stops them when the tests end. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopPrograms } from '../base/run-program.ts';
import type { PostgresBinaries } from '../postgres/postgres-binaries.ts';
import { stopPostgres } from '../postgres/postgres-process.ts';
import { findFreePort } from '../processes/ports.ts';
import { stopRabbitMq } from '../rabbitmq/rabbitmq-process.ts';
import { loadSecrets } from '../settings/secrets.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';

interface StartedServer {
  readonly address: string;
  readonly description: string;
}

export interface StartedRabbitMq extends StartedServer {
  /** URL of the management API, with the login of an administrator. */
  readonly managementAddress: string;
}

export interface TestServers {
  /**
   * Starts `count` servers, one for each Jest worker, because an open transaction of a test stops every relay on its
   * server. The result has all URLs, separated by spaces.
   */
  startPostgres(count: number, binaries?: PostgresBinaries): Promise<StartedServer>;
  /** Starts an empty RabbitMQ with its management API. */
  startRabbitMq(): Promise<StartedRabbitMq>;
  stop(): Promise<void>;
}

/**
 * Also stops the servers on Ctrl-C.
 *
 * @param memory a folder in memory for the servers' data, deleted at the end. If a run is killed, the next run uses its
 *   servers in this folder again. Without `memory` the data stays in the data folder on the disk, and the next run
 *   reuses the migrated template databases.
 */
export function createTestServers(settings: Settings, memory?: string): TestServers {
  const folder = memory ?? join(settings.dataDir, 'test');
  const { log } = pathsOf(settings);
  const stops = new Map<string, () => Promise<unknown>>();
  const stop = async () => {
    const pending = [...stops.values()];
    stops.clear();
    await Promise.all(pending.map((stopServer) => stopServer()));
    if (memory !== undefined) rmSync(memory, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      stopPrograms();
      void stop().finally(() => process.exit(130));
    });
  }
  const secrets = () => loadSecrets(join(folder, 'secrets.json'));

  return {
    stop,
    async startPostgres(count, binaries) {
      const { startPostgres } = await import('../postgres/postgres.ts');
      const ports = new Set<number>();
      while (ports.size < count) ports.add(await findFreePort());
      const starts = [...ports].map(async (port, index) => {
        const name = `postgres${binaries === undefined ? '' : `-${binaries.major}`}-worker-${index + 1}`;
        const directory = join(folder, name);
        stops.set(name, () => stopPostgres(directory));
        const { superuserUrl } = await startPostgres({
          root: settings.root,
          ...(binaries === undefined ? {} : { binaries }),
          directory,
          port,
          password: secrets().postgresPassword,
          logFile: join(log, `${name}-test.log`),
          durable: false,
        });
        await dropLeftovers(superuserUrl);
        return superuserUrl;
      });
      return { address: (await Promise.all(starts)).join(' '), description: `${count} started, one for each worker` };
    },
    async startRabbitMq() {
      const [{ startBroker }, { removeRabbitMq }] = await Promise.all([
        import('../rabbitmq/broker.ts'),
        import('../rabbitmq/rabbitmq.ts'),
      ]);
      const directory = join(folder, 'rabbitmq');
      stops.set('rabbitmq', () => stopRabbitMq(directory));
      await removeRabbitMq(directory);
      const managementPort = await findFreePort();
      const { url, description } = await startBroker({
        root: settings.root,
        directory,
        port: await findFreePort(),
        password: secrets().rabbitMqPassword,
        logFile: join(log, 'rabbitmq-test.log'),
        aptLog: join(log, 'apt.log'),
        externalUrl: undefined,
        managementPort,
      });
      const managementUrl = new URL(url.replace(/^amqp/, 'http'));
      managementUrl.port = String(managementPort);
      return { address: url, managementAddress: managementUrl.href, description };
    },
  };
}

/** Drops databases of an interrupted run. Templates stay: their names contain a digest of their migrations. */
async function dropLeftovers(superuserUrl: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      `SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'`,
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
