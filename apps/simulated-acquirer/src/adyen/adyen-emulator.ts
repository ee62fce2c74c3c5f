import { ConfigError, loadConfig } from '@svc/service';
import { fastify, type FastifyInstance } from 'fastify';
import { AdyenEmulatorConfig } from './config.js';
import { serveControl } from './control/control-routes.js';
import { Faults } from './control/faults.js';
import { RequestOutcomes } from './control/request-outcomes.js';
import type { EmulatorContext } from './emulator-context.js';
import { serveChallengePage } from './http/challenge-routes.js';
import { serveCheckoutApi } from './http/checkout-api.js';
import { OperationRunner } from './http/operation-runner.js';
import { serveReports } from './http/report-routes.js';
import { EmulatorClock } from './state/emulator-clock.js';
import { EmulatorStore } from './state/emulator-store.js';
import { Notifications } from './webhooks/notifications.js';
import { WebhookQueue } from './webhooks/webhook-queue.js';
import { WebhookRules } from './webhooks/webhook-rules.js';

const PREFIX = 'SVC_ADYEN_EMULATOR_';
/** Longer than every request of the platform. */
const MAX_BODY_BYTES = 256 * 1024;

export interface RunningAdyenEmulator {
  /** `http://127.0.0.1:port`. Adyen's interface is below `/v71`, and the control interface below `/emulator`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Whether these variables switch the emulator on. */
export function isAdyenEmulatorOn(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env[`${PREFIX}PORT`]);
}

/**
 * Starts an emulator of Adyen: the part of Checkout v71 that the platform uses, the 3D Secure page, webhooks, and
 * settlement reports, as Adyen documents them. It is made from Adyen's published interface alone, and is not Adyen's test
 * system. It accepts test cards only, and moves no money.
 *
 * @param now the real time, to which the emulator's clock adds its offset
 */
export async function startAdyenEmulator(
  env: Readonly<Record<string, string | undefined>>,
  now: () => Date = () => new Date(),
): Promise<RunningAdyenEmulator> {
  const own = Object.entries(env).filter(([name]) => name.startsWith(PREFIX) || name === 'SVC_LISTEN_ADDRESS');
  const { SVC_LISTEN_ADDRESS: host = '127.0.0.1', ...variables } = Object.fromEntries(own);
  const config = loadConfig(AdyenEmulatorConfig, variables);
  if (config.SVC_ADYEN_EMULATOR_PORT === undefined) throw new ConfigError(`${PREFIX}PORT is not set.`);

  const store = new EmulatorStore(config.SVC_ADYEN_EMULATOR_STORE);
  const clock = new EmulatorClock(now);
  clock.setOffset(store.clockOffsetMs);
  const rules = new WebhookRules();
  const faults = new Faults();
  const retryDelaysMs = config.SVC_ADYEN_EMULATOR_WEBHOOK_RETRY_MS.split(',').map(Number);
  const queue = new WebhookQueue(store, clock, retryDelaysMs);
  let publicUrl = config.SVC_ADYEN_EMULATOR_PUBLIC_URL ?? '';
  const context: EmulatorContext = {
    store,
    clock,
    notifications: new Notifications(store, clock, rules, config.SVC_ADYEN_EMULATOR_HMAC_KEY),
    outcomes: new RequestOutcomes(),
    merchantAccounts: new Set(config.SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS.split(',')),
    publicUrl: () => publicUrl,
  };

  const app = newServer();
  const runner = new OperationRunner(
    store,
    faults,
    () => clock.nowText(),
    () => queue.wake(),
  );
  serveCheckoutApi(app, { context, runner, apiKey: config.SVC_ADYEN_EMULATOR_API_KEY });
  serveChallengePage(app, context);
  serveReports(app, context, faults, {
    user: config.SVC_ADYEN_EMULATOR_REPORT_USER,
    password: config.SVC_ADYEN_EMULATOR_REPORT_PASSWORD,
  });
  const webhookUser = {
    user: config.SVC_ADYEN_EMULATOR_WEBHOOK_USER,
    password: config.SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD,
  };
  serveControl(app, { context, faults, rules, queue, webhookUser });

  const url = await app.listen({ host, port: config.SVC_ADYEN_EMULATOR_PORT });
  publicUrl ||= url;
  const webhookUrl = config.SVC_ADYEN_EMULATOR_WEBHOOK_URL;
  if (webhookUrl !== undefined) queue.setEndpoint({ url: webhookUrl, ...webhookUser });
  return {
    url,
    close: async () => {
      await app.close();
      await queue.close();
      store.close();
    },
  };
}

function newServer(): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true, bodyLimit: MAX_BODY_BYTES });
  // Clients send the content type also with a DELETE request, which has no body.
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body === '' ? done(null) : void parseJson(request, String(body), done),
  );
  // An empty field of a form is absent.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries([...new URLSearchParams(String(body))].filter(([, value]) => value !== ''))),
  );
  app.get('/health/live', () => Promise.resolve({ status: 'ok' }));
  app.get('/health/ready', () => Promise.resolve({ status: 'ok' }));
  return app;
}
