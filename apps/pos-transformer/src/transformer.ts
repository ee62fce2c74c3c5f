import { Clock, SystemClock } from '@svc/kernel';
import { newLog, type StandaloneApp, startStandalone } from '@svc/service/standalone';
import { transformerErrorBody } from './answers/error-body.js';
import { PosTransformerModule } from './app.module.js';
import { RenewInvoices } from './jobs/renew-invoices.js';
import { FollowPayments } from './jobs/follow-payments.js';
import { LookUpRefunds } from './jobs/look-up-refunds.js';
import { Sender } from './platform/sender.js';
import { TransformerSettings } from './settings.js';
import { CleanUp } from './store/clean-up.js';
import { Store } from './store/store.js';

export interface Transformer extends StandaloneApp {
  /** Begins to send what waits and to follow payments. */
  startWork(): void;
}

const CLEAN_UP_MS = 3_600_000;
/** How often expired invoices are renewed, payments looked up where a stream is silent, and pending refunds. */
const UPKEEP_MS = 2_000;

/** Creates the transformer, not yet listening and not yet talking to the platform by itself. */
export async function startTransformer(
  settings: TransformerSettings,
  clock: Clock = new SystemClock(),
): Promise<Transformer> {
  const log = newLog('pos-transformer', settings.logLevel);
  const store = new Store(settings.database);
  const definition = {
    name: 'pos-transformer',
    module: PosTransformerModule,
    errorBody: transformerErrorBody,
  };
  const started = await startStandalone(definition, {
    log,
    // It serves plain HTTP within a store: no browser may be told to use HTTPS only.
    environment: 'development',
    // The platform has them; a till that cannot reach it has the message.
    errorPages: `${settings.apiUrl}/errors`,
    providers: [
      { provide: TransformerSettings, useValue: settings },
      { provide: Clock, useValue: clock },
      { provide: Store, useValue: store },
    ],
  }).catch((error: unknown) => {
    store.close();
    throw error;
  });
  let upkeep: NodeJS.Timeout | undefined;
  let cleanUp: NodeJS.Timeout | undefined;
  let isUpkeepUnderWay = false;
  const { app } = started;
  const runUpkeep = async (): Promise<void> => {
    if (isUpkeepUnderWay) return;
    isUpkeepUnderWay = true;
    try {
      app.get(RenewInvoices).runOnce();
      await app.get(FollowPayments).lookUp();
      await app.get(LookUpRefunds).runOnce();
    } catch (error) {
      log.error({ err: error }, 'upkeep has failed; it is tried again');
    } finally {
      isUpkeepUnderWay = false;
    }
  };
  return {
    ...started,
    startWork: () => {
      app.get(Sender).start();
      app.get(FollowPayments).start();
      cleanUp = setInterval(() => app.get(CleanUp).runOnce(), CLEAN_UP_MS);
      upkeep = setInterval(() => void runUpkeep(), UPKEEP_MS);
      void runUpkeep();
    },
    close: async () => {
      clearInterval(cleanUp);
      clearInterval(upkeep);
      await started.close();
      store.close();
    },
  };
}
