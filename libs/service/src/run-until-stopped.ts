import { isDatabaseUnavailable } from '@svc/persistence/transaction';
import { ConfigError } from './configuration/config-error.js';
import { describeError } from './logging.js';
import { stopTelemetry } from './telemetry.js';

/**
 * Starts a program, and stops it on SIGTERM or SIGINT. If the start fails, it prints the error and exits with code 1.
 */
export async function runUntilStopped(start: () => Promise<() => Promise<void>>): Promise<void> {
  try {
    const stop = await start();
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) return;
      isStopping = true;
      stop()
        .then(stopTelemetry)
        .then(
          () => process.exit(0),
          (error: unknown) => exitWithError(error),
        );
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  } catch (error) {
    exitWithError(error);
  }
}

/**
 * Prints the error and ends the process. Prints one line for an expected error. Of any other error it prints what may be
 * logged: its other properties may contain a password, such as the `input` of an invalid URL.
 */
export function exitWithError(error: unknown): void {
  const isExpected = error instanceof ConfigError || isDatabaseUnavailable(error) || isAddressInUse(error);
  console.error(
    isExpected
      ? `Cannot start: ${(error as Error).message || (error as { code?: string }).code}`
      : describeError(error),
  );
  process.exit(1);
}

function isAddressInUse(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
}
