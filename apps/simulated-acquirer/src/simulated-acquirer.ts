import { setTimeout as delay } from 'node:timers/promises';
import { fastify } from 'fastify';
import { loadConfig } from '@svc/service';
import { type ChargeRecord, ChargeStore } from './charge-store.js';
import { SimulatedAcquirerConfig } from './config.js';
import { type ChargeRequest, SimulatedBank } from './simulated-bank.js';

export interface RunningAcquirer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

const CHARGE_BODY = {
  type: 'object',
  required: ['key', 'paymentReference', 'amount', 'currency', 'cardNumber'],
  properties: {
    key: { type: 'string', minLength: 1, maxLength: 100 },
    paymentReference: { type: 'string', minLength: 1, maxLength: 100 },
    amount: { type: 'integer', minimum: 1, maximum: 100_000_000_000 },
    currency: { type: 'string', minLength: 3, maxLength: 3 },
    cardNumber: { type: 'string', pattern: '^[0-9]{12,19}$' },
  },
} as const;

/**
 * Serves the simulated bank over HTTP: `POST /charges`, `GET /charges/{key}`,
 * `POST /charges/{key}/reversal`. Test cards only; it is not for real ones.
 */
export async function startSimulatedAcquirer(
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunningAcquirer> {
  const config = loadConfig(SimulatedAcquirerConfig, env);
  const store = new ChargeStore(config.SVC_ACQUIRER_STORE);
  const bank = new SimulatedBank(store);
  const app = fastify({ logger: false, forceCloseConnections: true });

  app.post<{ Body: ChargeRequest }>(
    '/charges',
    { schema: { body: CHARGE_BODY } },
    async (request, reply): Promise<ChargeRecord | undefined> => {
      const record = bank.charge(request.body);
      if (config.SVC_ACQUIRER_LATENCY_MS > 0) await delay(config.SVC_ACQUIRER_LATENCY_MS);
      if (record) return record;
      reply.hijack();
      request.raw.socket.destroy();
      return undefined;
    },
  );

  app.get<{ Params: { key: string } }>('/charges/:key', async (request, reply) => {
    const record = bank.find(request.params.key);
    return record ?? reply.status(404).send({ message: 'Nothing has arrived under this key.' });
  });

  app.post<{ Params: { key: string } }>('/charges/:key/reversal', (request) =>
    Promise.resolve(bank.reverse(request.params.key)),
  );

  app.get('/health/live', () => Promise.resolve({ status: 'ok' }));
  app.get('/health/ready', () => Promise.resolve({ status: 'ok' }));
  app.addHook('onClose', () => store.close());

  const url = await app.listen({ host: config.SVC_LISTEN_ADDRESS, port: config.SVC_PORT });
  return { url, close: () => app.close() };
}
