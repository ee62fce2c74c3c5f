/** Starts the servers of the local platform for `up` and `serve`: PostgreSQL with roles and schemas, and RabbitMQ. */
import { join } from 'node:path';
import type { Steps } from '../base/steps.ts';
import { isMigrated, markMigrated, migrationsDigest } from '../postgres/migrations-state.ts';
import { type StartedPostgres, startPostgres } from '../postgres/postgres.ts';
import { findPostgres } from '../postgres/postgres-process.ts';
import { DATABASE, provision } from '../postgres/provision.ts';
import { type BrokerAccess, ownerVariables, appVariables, writeEnvFiles } from '../processes/env-files.ts';
import { startBroker } from '../rabbitmq/broker.ts';
import { loadSecrets, type Secrets } from '../settings/secrets.ts';
import { pathsOf, SERVICES, type Settings } from '../settings/settings.ts';
import { migrate, type Mode } from './services.ts';

/** Starts RabbitMQ, or uses the caller's, and writes its addresses into the env files. */
export async function startPlatformBroker(
  settings: Settings,
  secrets: Secrets,
  steps: Steps,
  mode: Mode,
): Promise<void> {
  const paths = pathsOf(settings);
  let amqpUrls: BrokerAccess['amqpUrls'] = {};
  await steps.run('RabbitMQ', async () => {
    const broker = await startBroker({
      root: settings.root,
      directory: paths.rabbitMq,
      port: settings.ports.rabbitMq,
      password: secrets.rabbitMqPassword,
      logFile: paths.rabbitMqLog,
      aptLog: paths.aptLog,
      externalUrl: settings.externalAmqpUrl,
      externalManagementUrl: settings.externalManagementUrl,
      passwords: secrets.brokerPasswords,
    });
    amqpUrls = broker.urls;
    return broker.description;
  });
  writeEnvFiles(settings, secrets, { amqpUrls, isBehindFront: mode === 'distributed' });
}

/** @param onStarted called before this call starts the server, so that the caller can stop it after a later failure */
export async function startDatabase(settings: Settings, steps: Steps, onStarted: () => void): Promise<Secrets> {
  const paths = pathsOf(settings);
  const secrets = loadSecrets(paths.secrets);
  writeEnvFiles(settings, secrets);
  let server: StartedPostgres | undefined;
  await steps.run('PostgreSQL', async () => {
    if (findPostgres(paths.postgres) === undefined) onStarted();
    server = await startPostgres({
      root: settings.root,
      directory: paths.postgres,
      port: settings.ports.postgres,
      password: secrets.postgresPassword,
      logFile: paths.postgresLog,
      durable: true,
    });
    return server.description;
  });
  const url = server?.superuserUrl;
  if (url === undefined) throw new Error('PostgreSQL was started without an address');
  await steps.run('database', () => provision(url, secrets));
  await steps.run('migrations', () => migrateUnlessDone(settings, secrets, url.replace(/\/postgres$/, `/${DATABASE}`)));
  return secrets;
}

async function migrateUnlessDone(settings: Settings, secrets: Secrets, superuserUrl: string): Promise<string> {
  const digest = migrationsDigest(settings.root);
  const owners = ownerVariables(settings, secrets);
  const databases = { superuserUrl, ownerUrls: SERVICES.map((service) => owners[service]['SVC_DATABASE_URL']!) };
  if (await isMigrated(databases, digest)) return 'schemas are up to date';
  const { log, ownerEnv } = pathsOf(settings);
  const variables = { ...appVariables(settings, secrets)['all-in-one'], SVC_ENV_DIR: ownerEnv };
  await migrate(settings, variables, join(log, 'migrations.log'));
  await markMigrated(databases, digest);
  return 'schemas are up to date';
}
