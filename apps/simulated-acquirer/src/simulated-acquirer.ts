import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig, newClock, readTlsListener } from '@svc/service';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isAdyenEmulatorOn, startAdyenEmulator } from './adyen/adyen-emulator.js';
import { challengePage, challengePageHeaders } from './challenge-page.js';
import { ChargeStore } from './charge-store.js';
import { serveCodeProvider } from './code-provider/simulated-code-provider.js';
import { SimulatedAcquirerConfig } from './config.js';
import type { ChargeRecord } from './records.js';
import {
  type BankAccount,
  type ChargeRequest,
  KeyConflictError,
  type RefundRequest,
  SimulatedBank,
} from './simulated-bank.js';

export interface RunningAcquirer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

/** The payer's context: address, e-mail and the browser data of 3-D Secure 2, with its limits. */
const PAYER = {
  type: 'object',
  additionalProperties: false,
  properties: {
    address: {
      anyOf: [
        { type: 'string', format: 'ipv4' },
        { type: 'string', format: 'ipv6' },
      ],
    },
    email: { type: 'string', format: 'email', maxLength: 254 },
    browser: {
      type: 'object',
      additionalProperties: false,
      properties: {
        acceptHeader: { type: 'string', minLength: 1, maxLength: 2048 },
        userAgent: { type: 'string', minLength: 1, maxLength: 2048 },
        language: { type: 'string', minLength: 1, maxLength: 35 },
        screenWidth: { type: 'integer', minimum: 0, maximum: 999_999 },
        screenHeight: { type: 'integer', minimum: 0, maximum: 999_999 },
        colorDepth: { type: 'integer', minimum: 1, maximum: 48 },
        timeZoneOffsetMinutes: { type: 'integer', minimum: -840, maximum: 840 },
        javaScriptEnabled: { type: 'boolean' },
      },
    },
  },
} as const;

const CHARGE_BODY = {
  type: 'object',
  required: ['key', 'paymentReference', 'amount', 'currency'],
  oneOf: [{ required: ['cardNumber'] }, { required: ['vaultToken'] }, { required: ['challengeReference'] }],
  properties: {
    key: { type: 'string', minLength: 1, maxLength: 100 },
    paymentReference: { type: 'string', minLength: 1, maxLength: 100 },
    amount: { type: 'integer', minimum: 1, maximum: 100_000_000_000 },
    currency: { type: 'string', minLength: 3, maxLength: 3 },
    cardNumber: { type: 'string', pattern: '^[0-9]{12,19}$' },
    cvv: { type: 'string', pattern: '^[0-9]{3,4}$' },
    vaultToken: { type: 'string', minLength: 1, maxLength: 100 },
    challengeReference: { type: 'string', minLength: 1, maxLength: 100 },
    // Visible ASCII, because a redirect sends it in a header.
    returnUrl: { type: 'string', pattern: '^https?://[!-~]+$', maxLength: 2048 },
    payer: PAYER,
    forceVerification: { type: 'boolean' },
  },
} as const;

const REFUND_BODY = {
  type: 'object',
  required: ['key', 'chargeKey', 'amount'],
  properties: {
    key: CHARGE_BODY.properties.key,
    chargeKey: CHARGE_BODY.properties.key,
    amount: CHARGE_BODY.properties.amount,
  },
} as const;

/** A charge with the address of the challenge page, if there is a challenge. */
type ChargeResponse = ChargeRecord & { readonly challengeUrl?: string };

/**
 * Serves the simulated bank over HTTP. It is for test cards only, not for real cards.
 *
 * The platform calls `POST /charges`, `GET /charges/{key}`, `POST /charges/{key}/reversal`, `POST /refunds`, `GET
 * /refunds/{key}`, `GET /statements/{day}?after=`, `GET /challenges/{reference}/state`, `POST /cards` and `DELETE
 * /cards/{token}`. The headers `acquirer-mode` and `acquirer-account` select the account. The payer's browser opens the
 * page `/challenges/{reference}`.
 *
 * If `SVC_ADYEN_EMULATOR_PORT` is set, the emulator of Adyen runs beside it.
 *
 * @param ownNow the bank's clock, which determines the day of the statement on which a movement appears
 */
export async function startSimulatedAcquirer(
  env: Readonly<Record<string, string | undefined>>,
  ownNow?: () => Date,
): Promise<RunningAcquirer> {
  const config = loadConfig(SimulatedAcquirerConfig, env);
  const clock = newClock(config);
  const now = ownNow ?? (() => clock.now());
  const store = new ChargeStore(config.SVC_ACQUIRER_STORE);
  const bank = new SimulatedBank(store, now);
  const app = fastify({ logger: false, forceCloseConnections: true });
  let publicUrl = config.SVC_ACQUIRER_PUBLIC_URL ?? '';
  const chargeResponse = (record: ChargeRecord): ChargeResponse =>
    record.challenge ? { ...record, challengeUrl: `${publicUrl}/challenges/${record.challenge.reference}` } : record;

  rejectLiveMode(app, config);
  app.setErrorHandler((error, _request, reply) =>
    error instanceof KeyConflictError ? reply.status(409).send({ message: error.message }) : reply.send(error),
  );
  app.post<{ Body: Omit<ChargeRequest, keyof BankAccount> }>(
    '/charges',
    { schema: { body: CHARGE_BODY } },
    async (request, reply): Promise<ChargeResponse | undefined> => {
      const charge = { ...request.body, ...callerAccount(request) };
      const record = bank.charge(charge);
      await respondAfter(config.SVC_ACQUIRER_LATENCY_MS + bank.chargeResponseDelayMs(charge));
      return record ? chargeResponse(record) : dropConnection(request, reply);
    },
  );

  app.get<{ Params: { key: string } }>('/charges/:key', async (request, reply) => {
    const record = bank.findCharge(request.params.key, callerAccount(request));
    return record ? chargeResponse(record) : reply.status(404).send({ message: 'Nothing has arrived under this key.' });
  });

  app.post<{ Params: { key: string } }>('/charges/:key/reversal', async (request) =>
    bank.reverse(request.params.key, callerAccount(request)),
  );

  serveRefunds(app, bank, config);
  serveStatements(app, bank);
  serveVault(app, bank);
  serveChallengeState(app, bank);
  serveChallengePage(app, bank);
  serveCodeProvider(app, config.SVC_CODE_PROVIDER_KEY);
  app.get('/health/live', () => Promise.resolve({ status: 'ok' }));
  app.get('/health/ready', () => Promise.resolve({ status: 'ok' }));
  app.addHook('onClose', () => store.close());

  const url = await app.listen({ host: config.SVC_LISTEN_ADDRESS, port: config.SVC_PORT });
  const page = await listenForPayers(config, bank);
  const adyen = isAdyenEmulatorOn(env) ? await startAdyenEmulator(env, now) : undefined;
  publicUrl ||= page?.url ?? url;
  return {
    url,
    close: async () => {
      await adyen?.close();
      await page?.close();
      await app.close();
    },
  };
}

/** The mode in the header `acquirer-mode`; `test` by default. */
function callerMode({ headers }: FastifyRequest): 'test' | 'live' {
  return headers['acquirer-mode'] === 'live' ? 'live' : 'test';
}

function callerAccount(request: FastifyRequest): BankAccount {
  const account = request.headers['acquirer-account'];
  return { mode: callerMode(request), account: typeof account === 'string' ? account : '' };
}

/** Waits before the response. The timer does not delay the exit of the process. */
async function respondAfter(delayMs: number): Promise<void> {
  if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
}

/** Simulates a lost response. */
function dropConnection(request: FastifyRequest, reply: FastifyReply): undefined {
  reply.hijack();
  request.raw.socket.destroy();
  return undefined;
}

/** Full and partial refunds. Charges of live mode can be refunded even if live mode is off. */
function serveRefunds(app: FastifyInstance, bank: SimulatedBank, config: SimulatedAcquirerConfig): void {
  app.post<{ Body: Omit<RefundRequest, keyof BankAccount> }>(
    '/refunds',
    { schema: { body: REFUND_BODY } },
    async (request, reply) => {
      const refund = { ...request.body, ...callerAccount(request) };
      const record = bank.refund(refund);
      await respondAfter(config.SVC_ACQUIRER_LATENCY_MS + bank.refundResponseDelayMs(refund));
      return record ?? dropConnection(request, reply);
    },
  );
  app.get<{ Params: { key: string } }>('/refunds/:key', async (request, reply) => {
    const record = bank.pollRefund(request.params.key, callerAccount(request));
    return record ?? reply.status(404).send({ message: 'Nothing has arrived under this key.' });
  });
}

const STATEMENT_PARAMETERS = {
  params: { type: 'object', properties: { day: { type: 'string', format: 'date' } } },
  querystring: { type: 'object', properties: { after: { type: 'integer', minimum: 0, default: 0 } } },
} as const;

/** The charges and refunds of an account on one day (UTC), in pages. */
function serveStatements(app: FastifyInstance, bank: SimulatedBank): void {
  app.get<{ Params: { day: string }; Querystring: { after: number } }>(
    '/statements/:day',
    { schema: STATEMENT_PARAMETERS },
    async (request) => bank.statement(request.params.day, callerAccount(request), request.query.after),
  );
}

/** Refuses new charges and cards of live mode. Existing charges can still be read, reversed and refunded. */
function rejectLiveMode(app: FastifyInstance, config: SimulatedAcquirerConfig): void {
  const isLiveAllowed = config.SVC_ACQUIRER_LIVE === 'simulated' && config.SVC_ENVIRONMENT === 'development';
  app.addHook('preHandler', async (request, reply) => {
    const isNew = request.method === 'POST' && ['/charges', '/cards'].includes(request.routeOptions.url ?? '');
    if (isNew && callerMode(request) === 'live' && !isLiveAllowed)
      await reply.status(403).send({ message: 'This bank takes no live payments.' });
  });
}

/**
 * A TLS listener for browsers on a network. It serves only the challenge page: other routes would let every client
 * create charges.
 */
async function listenForPayers(
  config: SimulatedAcquirerConfig,
  bank: SimulatedBank,
): Promise<RunningAcquirer | undefined> {
  const listener = readTlsListener(config);
  if (listener === undefined) return undefined;
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    https: listener.tls,
  }) as unknown as FastifyInstance;
  serveChallengePage(app, bank);
  const url = await app.listen({ host: listener.address, port: config.SVC_PORT });
  return { url, close: () => app.close() };
}

const CARD_BODY = {
  type: 'object',
  required: ['cardNumber'],
  properties: { cardNumber: { type: 'string', pattern: '^[0-9]{12,19}$' } },
} as const;

/** Serves the vault, which stores cards for later charges. */
function serveVault(app: FastifyInstance, bank: SimulatedBank): void {
  app.post<{ Body: { cardNumber: string } }>('/cards', { schema: { body: CARD_BODY } }, ({ body }) =>
    Promise.resolve({ vaultToken: bank.storeCard(body.cardNumber) }),
  );
  app.delete<{ Params: { vaultToken: string } }>('/cards/:vaultToken', async ({ params }, reply) => {
    bank.deleteCard(params.vaultToken);
    return reply.status(204).send();
  });
}

/** The state of a challenge, for the platform. */
function serveChallengeState(app: FastifyInstance, bank: SimulatedBank): void {
  app.get<{ Params: { reference: string } }>('/challenges/:reference/state', async (request, reply) => {
    const record = bank.findChallenge(request.params.reference);
    if (!record?.challenge) return reply.status(404).send({ message: 'There is no such challenge.' });
    return { state: record.outcome === 'challenged' ? record.challenge.state : 'failed' };
  });
}

/** The page on which the payer confirms or refuses the payment. */
function serveChallengePage(app: FastifyInstance, bank: SimulatedBank): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  app.get<{ Params: { reference: string } }>('/challenges/:reference', async (request, reply) => {
    const record = bank.findChallenge(request.params.reference);
    return reply
      .status(record ? 200 : 404)
      .headers(challengePageHeaders())
      .send(challengePage(record));
  });
  app.post<{ Params: { reference: string }; Body: { answer?: string } | null }>(
    '/challenges/:reference',
    async (request, reply) => {
      const answer = request.body?.answer;
      if (answer !== 'confirm' && answer !== 'refuse') return reply.status(400).send({ message: 'confirm or refuse' });
      const challenge = bank.completeChallenge(request.params.reference, answer === 'confirm');
      if (!challenge) return reply.status(404).send({ message: 'There is no such challenge.' });
      return reply.redirect(challenge.returnUrl, 303);
    },
  );
}
