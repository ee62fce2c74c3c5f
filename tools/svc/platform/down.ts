import { existsSync } from 'node:fs';
import { acquireLock, type Lock } from '../base/lock.ts';
import { createSteps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { stopPostgres } from '../postgres/postgres-process.ts';
import { brokerFilePath, stopRabbitMq } from '../rabbitmq/rabbitmq-process.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';
import { stopServices } from './services.ts';
import { stopTransformer } from './transformer.ts';

/** Only one ./svc at a time can start or stop a platform with this data folder. */
export function acquirePlatformLock(settings: Settings): Lock {
  const lock = acquireLock(pathsOf(settings).lock);
  if ('release' in lock) return lock;
  throw new SvcError(`another ./svc (process ${lock.heldBy}) is starting or stopping this copy`, {
    hint: 'wait for it, or start a second copy with SVC_DATA_DIR and SVC_PORT_BASE',
  });
}

/** Stops the platform. Works also when it is stopped already, or after a crash. */
export async function down(settings: Settings): Promise<void> {
  const lock = acquirePlatformLock(settings);
  try {
    await stopPlatform(settings);
  } finally {
    lock.release();
  }
}

/** Returns the outcome for the services as a text. */
export async function stopPlatform(settings: Settings): Promise<string> {
  const steps = createSteps();
  const { rabbitMq, postgres, transformer } = pathsOf(settings);
  if (existsSync(transformer.process)) await steps.run('till', () => stopTransformer(settings));
  const services = await steps.run('services', () => stopServices(settings));
  // Also stop RabbitMQ after a crash of the broker, because the broker's name server is still running.
  if (existsSync(brokerFilePath(rabbitMq))) await steps.run('RabbitMQ', () => stopRabbitMq(rabbitMq));
  await steps.run('PostgreSQL', () => stopPostgres(postgres));
  return services;
}
