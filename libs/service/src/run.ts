import { isDatabaseUnavailable } from '@svc/persistence';
import { ConfigError, type ServiceConfig } from './config.js';
import { startService, type ServiceDefinition } from './service.js';

/** Runs one service in a process of its own, from the process's environment, until it is told to stop. */
export async function runService<C extends ServiceConfig>(definition: ServiceDefinition<C>): Promise<void> {
  await runUntilStopped(async () => {
    const service = await startService(definition, { env: process.env });
    await service.startRelaying();
    await service.app.listen(Number(process.env['SVC_PORT'] ?? 0), '127.0.0.1');
    service.log.info({ address: await service.app.getUrl(), node: process.version }, `${definition.name} listens`);
    return () => service.close();
  });
}

/** Starts, then stops on SIGTERM or SIGINT. A start that fails is one clear line and a non-zero exit. */
export async function runUntilStopped(start: () => Promise<() => Promise<void>>): Promise<void> {
  try {
    const stop = await start();
    let stopping = false;
    const onSignal = (): void => {
      if (stopping) return;
      stopping = true;
      stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  const expected = error instanceof ConfigError || isDatabaseUnavailable(error) || isAddressInUse(error);
  console.error(expected ? `Cannot start: ${(error as Error).message || (error as { code?: string }).code}` : error);
  process.exit(1);
}

function isAddressInUse(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
}
