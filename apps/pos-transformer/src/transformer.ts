import { type Clock, SystemClock } from '@svc/kernel';
import { newLog, ReadinessCheck, type StandaloneApp, startStandalone } from '@svc/service/standalone';
import { transformerErrorBody } from './answers/error-body.js';
import { PosTransformerModule } from './app.module.js';
import { COMPUTER_CLOCK, PlatformClock } from './clock/platform-clock.js';
import { CleanupJob } from './jobs/cleanup-job.js';
import { PollRefunds } from './jobs/poll-refunds.js';
import { RenewInvoices } from './jobs/renew-invoices.js';
import { SyncPayments } from './jobs/sync-payments.js';
import { CallSender } from './platform/call-sender.js';
import { TransformerSettings } from './settings.js';
import { Store } from './store/store.js';

export interface Transformer extends StandaloneApp {
  /** Starts to send waiting calls and to sync payments. */
  startJobs(): void;
}

const CLEANUP_INTERVAL_MS = 3_600_000;
/** Interval of the jobs that renew expired invoices, poll payments of silent streams and poll pending refunds. */
const JOBS_INTERVAL_MS = 2_000;

/**
 * Creates the transformer. It does not listen, and sends no stored calls before `startJobs()`.
 *
 * @param clock the clock of the computer, which may be wrong
 */
export async function startTransformer(
  settings: TransformerSettings,
  clock: Clock = new SystemClock(),
): Promise<Transformer> {
  const log = newLog('pos-transformer', settings.logLevel);
  const store = new Store(settings.database, log);
  const definition = {
    name: 'pos-transformer',
    module: PosTransformerModule,
    errorBody: transformerErrorBody,
    // Longer than any path, so that a reference that is too long is a 400 of the handler.
    maxParamLength: 16_384,
  };
  const started = await startStandalone(definition, {
    log,
    // 'development' omits the HSTS header, because the transformer serves plain HTTP within a store.
    environment: 'development',
    // The platform serves the pages that explain errors. A till that cannot reach them shows the message of the error.
    errorPages: `${settings.apiUrl}/errors`,
    providers: [
      { provide: TransformerSettings, useValue: settings },
      { provide: COMPUTER_CLOCK, useValue: clock },
      { provide: Store, useValue: store },
      { provide: ReadinessCheck, useValue: { missing: async () => store.findWriteProblem() } satisfies ReadinessCheck },
    ],
  }).catch((error: unknown) => {
    store.close();
    throw error;
  });
  let jobsTimer: NodeJS.Timeout | undefined;
  let cleanupTimer: NodeJS.Timeout | undefined;
  let areJobsRunning = false;
  const { app } = started;
  const runJobs = async (): Promise<void> => {
    if (areJobsRunning) return;
    // Without this check each job would fail and write an error every two seconds while the disk is full.
    if (store.findWriteProblem() !== undefined) return;
    areJobsRunning = true;
    try {
      app.get(PlatformClock).checkComputerClock();
      app.get(RenewInvoices).runStep();
      await app.get(SyncPayments).poll();
      await app.get(PollRefunds).runStep();
    } catch (error) {
      log.error({ err: error }, 'jobs have failed; they will run again');
    } finally {
      areJobsRunning = false;
    }
  };
  return {
    ...started,
    startJobs: () => {
      app.get(CallSender).start();
      app.get(SyncPayments).start();
      cleanupTimer = setInterval(() => cleanUp(started), CLEANUP_INTERVAL_MS);
      jobsTimer = setInterval(() => void runJobs(), JOBS_INTERVAL_MS);
      void runJobs();
    },
    close: async () => {
      clearInterval(cleanupTimer);
      clearInterval(jobsTimer);
      await started.close();
      store.close();
    },
  };
}

function cleanUp({ app, log }: StandaloneApp): void {
  try {
    app.get(CleanupJob).runStep();
  } catch (error) {
    log.error({ err: error }, 'old data could not be deleted; the job will run again');
  }
}
