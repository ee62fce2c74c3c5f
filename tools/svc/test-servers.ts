/** The servers that tests run on, each with data of its own below the test folder; all of them go when the tests end. */
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { stopPostgres } from './postgres-process.ts';
import { stopRabbitMq } from './rabbitmq-process.ts';
import { removeRabbitMq } from './rabbitmq.ts';
import { stopPrograms } from './run-program.ts';
import { loadSecrets } from './secrets.ts';
import { pathsOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { findFreePort } from './taken-ports.ts';

export interface TestServers {
  /** Returns the address for SVC_TEST_DATABASE_URL and a description. */
  startPostgres(binaries?: PostgresBinaries): Promise<{ url: string; description: string }>;
  /** Empty at each start. Returns the address for SVC_TEST_AMQP_URL and a description. */
  startRabbitMq(): Promise<{ url: string; description: string }>;
  stop(): Promise<void>;
}

/** Ctrl-C must not leave a server behind either. */
export function createTestServers(settings: Settings): TestServers {
  const folder = join(settings.dataDir, 'test');
  const { log } = pathsOf(settings);
  const stops = new Map<string, () => Promise<unknown>>();
  const stop = async () => {
    for (const [name, work] of [...stops]) {
      stops.delete(name);
      await work();
    }
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
    async startPostgres(binaries) {
      const { startPostgres } = await import('./postgres.ts');
      const name = binaries === undefined ? 'postgres' : `postgres-${binaries.major}`;
      const directory = join(folder, name);
      stops.set(name, () => stopPostgres(directory));
      const { superuserUrl, description } = await startPostgres({
        root: settings.root,
        ...(binaries === undefined ? {} : { binaries }),
        directory,
        port: await findFreePort(),
        password: secrets().postgresPassword,
        logFile: join(log, `${name}-test.log`),
        durable: false,
      });
      return { url: superuserUrl, description };
    },
    async startRabbitMq() {
      const { startBroker } = await import('./broker.ts');
      const directory = join(folder, 'rabbitmq');
      stops.set('rabbitmq', () => stopRabbitMq(directory));
      await removeRabbitMq(directory);
      return startBroker({
        root: settings.root,
        directory,
        port: await findFreePort(),
        password: secrets().rabbitMqPassword,
        logFile: join(log, 'rabbitmq-test.log'),
        aptLog: join(log, 'apt.log'),
        givenUrl: undefined,
      });
    },
  };
}
