import type { ServiceConfig } from './configuration/config.js';
import { ConfigError } from './configuration/config-error.js';
import { exitWithError, runUntilStopped } from './run-until-stopped.js';
import { migrateService, type ServiceDefinition, startService } from './service.js';

/**
 * The main program of an app: `node dist/main.js` runs the service until a signal stops it, and `node dist/main.js
 * migrate` migrates its schema and exits. Both are one program, so that the image of a service contains its migrations.
 */
export async function runService<C extends ServiceConfig>(definition: ServiceDefinition<C>): Promise<void> {
  const [task] = process.argv.slice(2);
  if (task === 'migrate') return runMigrations(definition);
  if (task !== undefined)
    return exitWithError(new ConfigError(`${definition.name} accepts only the argument "migrate", not "${task}".`));
  await runUntilStopped(async () => {
    const service = await startService(definition, { env: process.env });
    const { SVC_PORT, SVC_LISTEN_ADDRESS } = service.app.get(definition.config);
    await service.startRelaying();
    await service.replayAfterRestore();
    await service.app.listen(SVC_PORT, SVC_LISTEN_ADDRESS);
    service.log.info({ address: await service.app.getUrl(), node: process.version }, `${definition.name} listens`);
    return () => service.close();
  });
}

/**
 * A signal ends the process immediately. This is safe, because each migration is a transaction, and PostgreSQL rolls
 * back an incomplete transaction.
 */
async function runMigrations<C extends ServiceConfig>(definition: ServiceDefinition<C>): Promise<void> {
  try {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
    const executed = await migrateService(definition, process.env);
    console.log(`${definition.name}: ${executed.length === 0 ? 'up to date' : executed.join(', ')}`);
  } catch (error) {
    exitWithError(error);
  }
}
