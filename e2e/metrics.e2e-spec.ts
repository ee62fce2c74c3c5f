/**
 * The main flows of the platform, with all its metrics: each series is of the list in libs/contracts, with its labels and
 * their values, and no label contains an id or a host of a merchant.
 */
import { type Metric, type MetricName, METRICS } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { createSessions, gatewayClient } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { decodeCode, logIn } from './callers/partner.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { createInvoice } from './callers/till.js';
import { Platform } from './platform/platform.js';
import { type Series, TraceCollector } from './platform/trace-collector.js';

const DECLINED = '4000000000000002';
/** Series that only appear after an incident, or at other acquirers than the simulated one. */
const EXPECTED: readonly MetricName[] = [
  'svc.payments',
  'svc.payment.duration',
  'svc.payments.unresolved',
  'svc.acquirer.charges',
  'svc.acquirer.charge.duration',
  'svc.acquirer.circuit.open',
  'svc.webhook.attempts',
  'svc.webhook.first.delay',
  'svc.webhook.delivery.delay',
  'svc.webhook.circuits',
  'svc.webhook.due.age',
  'svc.relay.age',
  'svc.broker.connected',
  'svc.broker.waiting',
  'svc.heartbeat.age',
  'svc.consumer.dead_letters',
  'svc.ledger.unsealed.age',
  'svc.disputes.open',
  'svc.build.info',
  'db.client.connection.count',
  'http.server.request.duration',
  'http.client.request.duration',
  'nodejs.eventloop.delay.p99',
  'v8js.gc.duration',
];

let collector: TraceCollector;
let platform: Platform;
let endpoint: MerchantEndpoint;

beforeAll(async () => {
  collector = await TraceCollector.start();
  const metrics = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '2000' };
  platform = await Platform.start('metrics', { ...collector.environment, ...metrics }, 'distributed');
  endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => 200);
});
afterAll(async () => {
  await platform?.stop();
  await endpoint?.stop();
  await collector?.stop();
});

/** Ids, codes, keys, hosts and references that the flows have used. */
async function runFlows(): Promise<string[]> {
  const { gatewayUrl } = platform.demo;
  const sessions = await createSessions(gatewayClient(platform), 2, endpoint.url);
  const [paid, declined] = sessions;
  await sendPayRequest(gatewayUrl, await preparePayRequest(paid!.redirectUrl));
  await sendPayRequest(gatewayUrl, await preparePayRequest(declined!.redirectUrl, DECLINED));
  const payments = await gatewayClient(platform).listPayments(paid!.sessionId);
  const invoice = await createInvoice(platform);
  const partner = await logIn(platform);
  await decodeCode(platform, invoice.code, partner);
  await waitUntil('the webhook of the payment', 30_000, () => Promise.resolve(endpoint.deliveries.length > 0));
  const { merchant, siteId, apiKey } = platform.site(0, 0);
  return [
    ...sessions.map(({ sessionId }) => sessionId),
    ...payments.flatMap(({ paymentReference, merchantOrderId }) => [paymentReference, merchantOrderId]),
    invoice.code,
    ...[String(merchant.merchantId), String(siteId), apiKey, merchant.name],
    new URL(endpoint.url).host,
    new URL(endpoint.url).port,
  ].filter((text): text is string => typeof text === 'string' && text.length > 0);
}

const isListed = (name: string): name is MetricName => name in METRICS;

/** The first part of a series that the list does not allow. */
function findProblem({ name, unit, kind, labels }: Series): string | undefined {
  if (!isListed(name)) return `${name} is not listed`;
  const metric: Metric = METRICS[name];
  const kinds = { counter: 'sum', upDownCounter: 'sum', gauge: 'gauge', histogram: 'histogram' } as const;
  if (kinds[metric.kind] !== kind) return `${name} is a ${kind}`;
  if (metric.unit !== unit) return `${name} has the unit ${unit}`;
  for (const [label, value] of Object.entries(labels)) {
    const allowed = metric.labels[label];
    if (allowed === undefined) return `${name} has the label ${label}`;
    if ('values' in allowed && !allowed.values.includes(value)) return `${name} has ${label}=${value}`;
  }
  return undefined;
}

it('every series is of the list, and no label contains an id, a key or a host of a merchant', async () => {
  const planted = await runFlows();
  const ofPayments = (): Series['labels'][] =>
    collector.series.filter(({ name }) => name === 'svc.payments').map(({ labels }) => labels);
  const missing = (): string[] => EXPECTED.filter((name) => !collector.series.some((series) => series.name === name));
  await waitUntil('every expected metric, and both outcomes', 60_000, () =>
    Promise.resolve(missing().length === 0 && ofPayments().length === 2),
  ).catch(() => undefined);
  expect(missing()).toEqual([]);

  const { series } = collector;
  expect([...new Set(series.map(findProblem))].filter((problem) => problem !== undefined)).toEqual([]);
  const values = new Set(series.flatMap(({ labels }) => Object.values(labels)));
  expect(planted.length).toBeGreaterThan(8);
  expect([...values].filter((value) => planted.some((text) => value.includes(text)))).toEqual([]);

  const common = { mode: 'test', acquirer: 'simulated', source: 'session' };
  expect(ofPayments()).toEqual(
    expect.arrayContaining([
      { ...common, outcome: 'success', error: 'none' },
      { ...common, outcome: 'failed', error: 'card.declined' },
    ]),
  );
  expect(ofPayments()).toHaveLength(2);
  const routes = series
    .filter(({ name }) => name === 'http.server.request.duration')
    .map(({ labels }) => labels['http.route']);
  expect(routes).toContain('/pay');
});
