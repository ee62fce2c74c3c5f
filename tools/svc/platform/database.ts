/** Starts the servers of the local platform for `up` and `serve`: PostgreSQL with roles and schemas, and RabbitMQ. */
import { join } from 'node:path';
import type { Steps } from '../base/steps.ts';
import { isMigrated, markMigrated, migrationsDigest } from '../postgres/migrations-state.ts';
import { startPostgres } from '../postgres/postgres.ts';
import { findPostgresBinaries } from '../postgres/postgres-binaries.ts';
import { findPostgres } from '../postgres/postgres-process.ts';
import { DATABASE, provision } from '../postgres/provision.ts';
import { databaseServers } from '../postgres/servers.ts';
import { appVariables, ownerVariables, writeEnvFiles } from '../processes/env-files.ts';
import { startBroker } from '../rabbitmq/broker.ts';
import { loadSecrets, type Secrets } from '../settings/secrets.ts';
import { pathsOf, SERVICES, type Settings } from '../settings/settings.ts';
import { migrate, type Mode } from './services.ts';

/** Starts RabbitMQ, or uses the server at SVC_AMQP_URL. Writes its address for each service into the env files. */
export async function startPlatformBroker(
  settings: Settings,
  secrets: Secrets,
  steps: Steps,
  mode: Mode,
): Promise<void> {
  const paths = pathsOf(settings);
  const broker = await steps.run('RabbitMQ', () =>
    startBroker({
      root: settings.root,
      directory: paths.rabbitMq,
      port: settings.ports.rabbitMq,
      password: secrets.rabbitMqPassword,
      logFile: paths.rabbitMqLog,
      aptLog: paths.aptLog,
      externalUrl: settings.externalAmqpUrl,
      externalManagementUrl: settings.externalManagementUrl,
      passwords: secrets.brokerPasswords,
    }),
  );
  writeEnvFiles(settings, secrets, { amqpUrls: broker.urls, isBehindFront: mode === 'distributed' });
}

/** @param onStart called with the data directory before the start of a server, unless the server already runs */
export async function startDatabases(
  settings: Settings,
  steps: Steps,
  onStart: (directory: string) => void,
): Promise<Secrets> {
  const secrets = loadSecrets(pathsOf(settings).secrets);
  writeEnvFiles(settings, secrets);
  for (const { name, directory, port, logFile } of databaseServers(settings)) {
    const { superuserUrl } = await steps.run(name, () => {
      if (findPostgres(directory) === undefined) onStart(directory);
      const { root, postgresBin } = settings;
      const binaries = findPostgresBinaries(root, postgresBin);
      return startPostgres({
        root,
        binaries,
        directory,
        port,
        password: secrets.postgresPassword,
        logFile,
        durable: true,
      });
    });
    await steps.run('database', () => provision(superuserUrl, secrets));
  }
  await steps.run('migrations', () => migrateUnlessDone(settings, secrets));
  return secrets;
}

/**
 * Runs new migrations in the database of the running platform.
 * @param build called before, if there are any
 */
export async function migrateRunningPlatform(
  settings: Settings,
  steps: Steps,
  build: () => Promise<void>,
): Promise<void> {
  const secrets = loadSecrets(pathsOf(settings).secrets);
  const { databases, digest } = planMigrations(settings, secrets);
  if (await isMigrated(databases, digest)) return;
  await build();
  await steps.run('migrations', () => migrateUnlessDone(settings, secrets));
}

function planMigrations(settings: Settings, secrets: Secrets) {
  const login = `postgres:${secrets.postgresPassword}`;
  const superuserUrl = `postgres://${login}@127.0.0.1:${settings.ports.postgres}/${DATABASE}`;
  const variablesOfOwners = ownerVariables(settings, secrets);
  const ownerUrls = SERVICES.map((service) => variablesOfOwners[service]['SVC_DATABASE_URL']!);
  return { databases: { superuserUrl, ownerUrls }, digest: migrationsDigest(settings.root) };
}

async function migrateUnlessDone(settings: Settings, secrets: Secrets): Promise<string> {
  const { databases, digest } = planMigrations(settings, secrets);
  if (await isMigrated(databases, digest)) return 'schemas are up to date';
  const { log, ownerEnv } = pathsOf(settings);
  const variables = { ...appVariables({ ...settings, observe: false }, secrets)['all-in-one'], SVC_ENV_DIR: ownerEnv };
  await migrate(settings, variables, join(log, 'migrations.log'));
  await markMigrated(databases, digest);
  return 'schemas are up to date';
}
