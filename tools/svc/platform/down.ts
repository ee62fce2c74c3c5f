import { existsSync } from 'node:fs';
import { acquireLock, type Lock } from '../base/lock.ts';
import { createSteps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { stopDashboards } from '../observe/dashboards-process.ts';
import { stopPostgres } from '../postgres/postgres-process.ts';
import { databaseServers } from '../postgres/servers.ts';
import { brokerFilePath, stopRabbitMq } from '../rabbitmq/rabbitmq-process.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';
import { stopPrometheus } from './prometheus.ts';
import { stopServices } from './services.ts';
import { stopTransformer } from './transformer.ts';

/** Acquires the lock of a data folder, because only one ./svc at a time may start or stop the platform in it. */
export function acquirePlatformLock(settings: Settings): Lock {
  const lock = acquireLock(pathsOf(settings).lock);
  if ('release' in lock) return lock;
  throw new SvcError(`another ./svc (process ${lock.heldBy}) is starting or stopping this copy`, {
    hint: 'wait for it, or start a second copy with SVC_DATA_DIR and SVC_PORT_BASE',
  });
}

/** Stops the platform. Also works if the platform has crashed or does not run. */
export async function down(settings: Settings): Promise<void> {
  const lock = acquirePlatformLock(settings);
  try {
    await stopPlatform(settings);
  } finally {
    lock.release();
  }
}

/** Stops all programs of the platform. Returns a text for the user about the services. */
export async function stopPlatform(settings: Settings): Promise<string> {
  const steps = createSteps();
  const { rabbitMq, transformer, prometheus, dashboards } = pathsOf(settings);
  if (existsSync(transformer.process)) await steps.run('till', () => stopTransformer(settings));
  if (existsSync(dashboards.process)) await steps.run('dashboards', () => stopDashboards(settings));
  if (existsSync(prometheus.process)) await steps.run('Prometheus', () => stopPrometheus(settings));
  const services = await steps.run('services', () => stopServices(settings));
  // The file exists even after a crash of RabbitMQ, whose Erlang name server then still runs.
  if (existsSync(brokerFilePath(rabbitMq))) await steps.run('RabbitMQ', () => stopRabbitMq(rabbitMq));
  for (const { name, directory } of databaseServers(settings)) await steps.run(name, () => stopPostgres(directory));
  return services;
}
