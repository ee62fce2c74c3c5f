import type { AlertTest, Runbook } from './alerts/alert.ts';
import { type ListedMetric, prometheusName } from './metric-list.ts';

/** A service level objective, with an alert when its error budget of 30 days burns too fast. */
export interface Slo {
  /** Name of the recorded series: `svc:<name>:error_ratio_<window>`. */
  readonly name: string;
  readonly alert: string;
  /** Share of good events within 30 days. */
  readonly objective: number;
  readonly metrics: readonly ListedMetric[];
  readonly labels: readonly string[];
  /** PromQL: the share of bad events in a window such as `5m`. Without events it has no result. */
  readonly errorRatio: (window: string) => string;
  readonly runbook: Runbook;
  /** A tenth of the events are bad, and all are good. */
  readonly test: Pick<AlertTest, 'firing' | 'silent' | 'labels'>;
}

/**
 * The windows of the Google SRE workbook: an alert needs a high burn rate in a long window, and still in a short one, so that
 * it ends soon after the cause. `factor`: how many times faster than allowed the budget burns.
 */
export const BURN_RATES = [
  { long: '1h', short: '5m', factor: 14.4, severity: 'page' },
  { long: '6h', short: '30m', factor: 6, severity: 'page' },
  { long: '1d', short: '2h', factor: 3, severity: 'ticket' },
  { long: '3d', short: '6h', factor: 1, severity: 'ticket' },
] as const;

export const WINDOWS = [...new Set(BURN_RATES.flatMap(({ long, short }) => [short, long]))];

const charges = prometheusName('svc.acquirer.charges');
const firstDelay = prometheusName('svc.webhook.first.delay');
const requests = prometheusName('http.server.request.duration');
const CHARGE = 'acquirer="adyen", mode="live"';
const LOOK_UPS = 'http_request_method="GET", http_route!="", http_route!~".*/(events|stream)"';
/** Prometheus 3 writes the bounds of buckets with decimals. */
const within = (seconds: number): string => `le=~"${seconds}([.]0)?"`;

export const SLOS: readonly Slo[] = [
  {
    name: 'charges',
    alert: 'SvcChargesNotAnswered',
    objective: 0.999,
    metrics: ['svc.acquirer.charges'],
    labels: ['mode'],
    errorRatio: (window) =>
      `sum by (mode) (rate(${charges}{outcome=~"unknown|notAttempted|circuitOpen"}[${window}]))` +
      ` / sum by (mode) (rate(${charges}[${window}]))`,
    runbook: {
      meaning: 'Too many charges have no outcome while their payer waits. The objective is 99.9 % of all charges.',
      look: [
        '`svc.acquirer.charges` by `acquirer` and `outcome`: `unknown` is a timeout, `circuitOpen` an outage, `notAttempted` a refusal.',
        '`svc.acquirer.charge.duration` and `svc.acquirer.permits.waiting`: is the acquirer slow, or are the permits too few?',
      ],
      act: [
        'Follow [SvcAcquirerCircuitOpen](#svcacquirercircuitopen). Unknown outcomes end by themselves within 15 minutes.',
      ],
    },
    test: {
      firing: [
        { series: `${charges}{${CHARGE}, outcome="approved"}`, values: '0+90x4400' },
        { series: `${charges}{${CHARGE}, outcome="unknown"}`, values: '0+10x4400' },
      ],
      silent: [
        { series: `${charges}{${CHARGE}, outcome="approved"}`, values: '0+90x4400' },
        { series: `${charges}{${CHARGE}, outcome="declined"}`, values: '0+10x4400' },
      ],
      labels: { mode: 'live' },
    },
  },
  {
    name: 'webhooks',
    alert: 'SvcWebhooksNotWithinAMinute',
    objective: 0.995,
    metrics: ['svc.webhook.first.delay'],
    labels: [],
    errorRatio: (window) =>
      `1 - sum(rate(${firstDelay}_bucket{${within(60)}}[${window}])) / sum(rate(${firstDelay}_count[${window}]))`,
    runbook: {
      meaning:
        'Too many webhooks are first sent later than a minute after webhook-dispatcher has recorded them. `svc.relay.age` shows the time before. The objective is 99.5 %.',
      look: ['`svc.relay.age` of payment-processor, `svc.webhook.due.age`, and the replicas of webhook-dispatcher.'],
      act: ['Follow [SvcRelayLate](#svcrelaylate) or [SvcWebhooksLate](#svcwebhookslate).'],
    },
    test: {
      firing: [
        { series: `${firstDelay}_bucket{le="60"}`, values: '0+90x4400' },
        { series: `${firstDelay}_count`, values: '0+100x4400' },
      ],
      silent: [
        { series: `${firstDelay}_bucket{le="60"}`, values: '0+100x4400' },
        { series: `${firstDelay}_count`, values: '0+100x4400' },
      ],
      labels: {},
    },
  },
  {
    name: 'look_ups',
    alert: 'SvcLookUpsFail',
    objective: 0.999,
    metrics: ['http.server.request.duration'],
    labels: ['job'],
    errorRatio: (window) =>
      `1 - sum by (job) (rate(${requests}_bucket{${LOOK_UPS}, ${within(1)}, http_response_status_code!~"5.."}[${window}]))` +
      ` / sum by (job) (rate(${requests}_count{${LOOK_UPS}}[${window}]))`,
    runbook: {
      meaning: 'Too many reads fail or take longer than a second. The objective is 99.9 %.',
      look: [
        '`http.server.request.duration` by `http.route` and status: one route, or all?',
        '`db.client.connection.pending_requests`, `svc.database.slow_statements` and `nodejs.eventloop.delay.p99` of the service.',
      ],
      act: [
        'Follow [SvcDatabasePoolExhausted](#svcdatabasepoolexhausted) or [SvcEventLoopBlocked](#svceventloopblocked).',
      ],
    },
    test: {
      firing: lookUps(90),
      silent: lookUps(100),
      labels: { job: 'payment-history' },
    },
  },
];

function lookUps(fast: number): AlertTest['firing'] {
  const labels =
    'job="payment-history", http_request_method="GET", http_route="/v1/payments", http_response_status_code="200"';
  return [
    { series: `${requests}_bucket{${labels}, le="1"}`, values: `0+${fast}x4400` },
    { series: `${requests}_count{${labels}}`, values: '0+100x4400' },
    // Streams are open for minutes, and do not count.
    { series: `${requests}_count{${labels.replace('/v1/payments', '/pay/:sessionId/events')}}`, values: '0+500x4400' },
  ];
}
