import type { Dashboard } from './dashboard.ts';
import { type ListedMetric, prometheusName as nameOf } from './metric-list.ts';

const RANGE = '$__rate_interval';
const PAYMENT = '{mode=~"$mode"}';
const perSecond = (name: ListedMetric, by: string, where = ''): string =>
  `sum by (${by}) (rate(${nameOf(name)}${where}[${RANGE}]))`;
const gauge = (name: ListedMetric, by: string, where = ''): string => `max by (${by}) (${nameOf(name)}${where})`;

/** The median and the 99th percentile of a histogram. */
function percentiles(name: ListedMetric, by = '', where = ''): Record<string, string> {
  const labels = by === '' ? 'le' : `le, ${by}`;
  const legend = by === '' ? '' : ` {{${by}}}`;
  const quantile = (share: number): string =>
    `histogram_quantile(${share}, sum by (${labels}) (rate(${nameOf(name)}_bucket${where}[${RANGE}])))`;
  return { [`p50${legend}`]: quantile(0.5), [`p99${legend}`]: quantile(0.99) };
}

const payments = nameOf('svc.payments');
const approved = (where: string): string =>
  `sum(rate(${payments}{mode=~"$mode", outcome="success"${where}}[${RANGE}])) / sum(rate(${payments}{mode=~"$mode"${where}}[${RANGE}]))`;
const requestRoute = (method: string, route: string): string =>
  `{http_request_method="${method}", http_route=~"${route}"}`;

const PAYMENTS: Dashboard = {
  uid: 'svc-payments',
  title: 'Svc Payments: payments',
  variables: { mode: payments },
  panels: [
    { title: 'Approval rate', unit: 'percentunit', kind: 'stat', queries: { approved: approved('') } },
    {
      title: 'Payments by outcome',
      unit: 'reqps',
      queries: { '{{outcome}}': perSecond('svc.payments', 'outcome', PAYMENT) },
    },
    {
      title: 'Payments by source',
      unit: 'reqps',
      queries: { '{{source}}': perSecond('svc.payments', 'source', PAYMENT) },
    },
    {
      title: 'Declines by code',
      unit: 'reqps',
      queries: { '{{error}}': perSecond('svc.payments', 'error', '{mode=~"$mode", outcome="failed"}') },
    },
    {
      title: 'Calls to acquirers by outcome',
      unit: 'reqps',
      queries: { '{{acquirer}} {{outcome}}': perSecond('svc.acquirer.charges', 'acquirer, outcome', PAYMENT) },
    },
    {
      title: 'Create a session',
      unit: 's',
      queries: percentiles('http.server.request.duration', '', requestRoute('POST', '/api/v3[.]?1?/sessions')),
    },
    {
      title: 'Payer’s page',
      unit: 's',
      queries: percentiles('http.server.request.duration', '', requestRoute('GET', '/pay')),
    },
    {
      title: 'Payment, from acceptance to outcome',
      unit: 's',
      queries: percentiles('svc.payment.duration', '', PAYMENT),
    },
    { title: 'Acquirer', unit: 's', queries: percentiles('svc.acquirer.charge.duration', 'acquirer', PAYMENT) },
    { title: 'Capture', unit: 's', queries: percentiles('svc.capture.duration', 'acquirer') },
    {
      title: 'First attempt of a webhook, from its record',
      unit: 's',
      queries: percentiles('svc.webhook.first.delay'),
    },
    {
      title: 'Charges in flight and waiting',
      unit: 'short',
      queries: {
        'used {{acquirer}}': gauge('svc.acquirer.permits.used', 'acquirer', PAYMENT),
        'waiting {{acquirer}}': gauge('svc.acquirer.permits.waiting', 'acquirer', PAYMENT),
      },
    },
    {
      title: 'Circuits of acquirers',
      unit: 'short',
      queries: { '{{acquirer}}': gauge('svc.acquirer.circuit.open', 'acquirer', PAYMENT) },
    },
    {
      title: 'Unknown outcomes',
      unit: 'short',
      queries: {
        unresolved: `max(${nameOf('svc.payments.unresolved')})`,
        'unknown {{acquirer}}': perSecond('svc.payments.unknown', 'acquirer', PAYMENT),
      },
    },
    {
      title: 'Refunds, reversals, disputes',
      unit: 'short',
      queries: {
        'refund {{state}}': perSecond('svc.refunds.ended', 'state'),
        reversal: `sum(rate(${nameOf('svc.reversals')}[${RANGE}]))`,
        'open dispute {{stage}}': gauge('svc.disputes.open', 'stage', PAYMENT),
      },
    },
    {
      title: 'Card testing',
      unit: 'short',
      queries: {
        'sites under attack': `sum(${nameOf('svc.velocity.sites.attacked')}${PAYMENT})`,
        'refused {{limit}}': perSecond('svc.velocity.refusals', 'limit', PAYMENT),
      },
    },
    {
      title: 'Reconciliation and ledger',
      unit: 'short',
      queries: {
        differences: `max(${nameOf('svc.reconciliation.differences')})`,
        'unsealed (s)': `max(${nameOf('svc.ledger.unsealed.age')})`,
      },
    },
    {
      title: 'Error budget burnt in an hour',
      unit: 'percentunit',
      queries: {
        charges: 'max(svc:charges:error_ratio_1h)',
        webhooks: 'max(svc:webhooks:error_ratio_1h)',
        'look-ups': 'max(svc:look_ups:error_ratio_1h)',
      },
    },
  ],
};

const WEBHOOKS: Dashboard = {
  uid: 'svc-webhooks',
  title: 'Svc Payments: webhooks',
  variables: {},
  panels: [
    {
      title: 'Attempts by outcome',
      unit: 'reqps',
      queries: { '{{outcome}}': perSecond('svc.webhook.attempts', 'outcome') },
    },
    {
      title: 'Attempts by response',
      unit: 'reqps',
      queries: { '{{response}}': perSecond('svc.webhook.attempts', 'response') },
    },
    {
      title: 'Attempts by recipient',
      unit: 'reqps',
      queries: { '{{recipient}}': perSecond('svc.webhook.attempts', 'recipient') },
    },
    {
      title: 'First attempt, from the record',
      unit: 's',
      queries: percentiles('svc.webhook.first.delay', 'recipient'),
    },
    {
      title: 'Acknowledgement, from the record',
      unit: 's',
      queries: percentiles('svc.webhook.delivery.delay', 'recipient'),
    },
    { title: 'Oldest due webhook', unit: 's', queries: { age: `max(${nameOf('svc.webhook.due.age')})` } },
    { title: 'Circuits of endpoints', unit: 'short', queries: { '{{state}}': gauge('svc.webhook.circuits', 'state') } },
    { title: 'Without a signing key', unit: 'short', queries: { webhooks: `max(${nameOf('svc.webhook.unsigned')})` } },
    { title: 'E-mails', unit: 'reqps', queries: { '{{outcome}}': perSecond('svc.mails', 'outcome') } },
  ],
};

const SERVICE = '{service=~"$service"}';
const MESSAGING: Dashboard = {
  uid: 'svc-messaging',
  title: 'Svc Payments: messaging',
  variables: { service: nameOf('svc.relay.age') },
  panels: [
    {
      title: 'Relay: age of the oldest event',
      unit: 's',
      queries: { '{{service}} → {{target}}': gauge('svc.relay.age', 'service, target', SERVICE) },
    },
    {
      title: 'Relay: waiting events',
      unit: 'short',
      queries: { '{{service}} → {{target}}': gauge('svc.relay.waiting', 'service, target', SERVICE) },
    },
    {
      title: 'Broker: connected',
      unit: 'short',
      queries: { '{{service}}': `min by (service) (${nameOf('svc.broker.connected')}${SERVICE})` },
    },
    {
      title: 'Broker: waiting messages',
      unit: 'short',
      queries: { '{{queue}}': gauge('svc.broker.waiting', 'queue', SERVICE) },
    },
    {
      title: 'Broker: dead letters',
      unit: 'short',
      queries: { '{{service}}': gauge('svc.broker.dead_letters', 'service', SERVICE) },
    },
    {
      title: 'Broker: refused types',
      unit: 'short',
      queries: { '{{message}}': gauge('svc.broker.refused', 'message', SERVICE) },
    },
    {
      title: 'Consumer: dead letters',
      unit: 'short',
      queries: { '{{service}}': gauge('svc.consumer.dead_letters', 'service', SERVICE) },
    },
    {
      title: 'Consumer: deferred messages',
      unit: 'short',
      queries: { '{{service}}': gauge('svc.consumer.deferred', 'service', SERVICE) },
    },
    { title: 'Heartbeats', unit: 's', queries: { '{{service}}': gauge('svc.heartbeat.age', 'service', SERVICE) } },
  ],
};

const JOB = '{job=~"$job"}';
const POOL = '{db_client_connection_pool_name=~"$job"}';
const ONE_SERVICE: Dashboard = {
  uid: 'svc-service',
  title: 'Svc Payments: one service',
  variables: { job: `${nameOf('http.server.request.duration')}_count` },
  panels: [
    {
      title: 'Requests by route',
      unit: 'reqps',
      queries: {
        '{{http_route}}': `sum by (http_route) (rate(${nameOf('http.server.request.duration')}_count${JOB}[${RANGE}]))`,
      },
    },
    {
      title: 'Requests by status',
      unit: 'reqps',
      queries: {
        '{{http_response_status_code}}': `sum by (http_response_status_code) (rate(${nameOf('http.server.request.duration')}_count${JOB}[${RANGE}]))`,
      },
    },
    {
      title: 'Duration of requests',
      unit: 's',
      queries: percentiles('http.server.request.duration', 'http_route', JOB),
    },
    { title: 'Duration of calls', unit: 's', queries: percentiles('http.client.request.duration', '', JOB) },
    {
      title: 'Database connections',
      unit: 'short',
      queries: {
        '{{db_client_connection_state}}': `sum by (db_client_connection_state) (${nameOf('db.client.connection.count')}${POOL})`,
      },
    },
    {
      title: 'Waiting for a connection',
      unit: 'short',
      queries: { waiting: `sum(${nameOf('db.client.connection.pending_requests')}${POOL})` },
    },
    {
      title: 'Statements over a second',
      unit: 'reqps',
      queries: { '{{service}} {{operation}}': perSecond('svc.database.slow_statements', 'service, operation') },
    },
    {
      title: 'Delay of the event loop',
      unit: 's',
      queries: { 'p99 {{instance}}': gauge('nodejs.eventloop.delay.p99', 'instance', JOB) },
    },
    {
      title: 'Utilisation of the event loop',
      unit: 'percentunit',
      queries: { '{{instance}}': gauge('nodejs.eventloop.utilization', 'instance', JOB) },
    },
    {
      title: 'Garbage collection',
      unit: 's',
      queries: {
        '{{v8js_gc_type}}': `sum by (v8js_gc_type) (rate(${nameOf('v8js.gc.duration')}_sum${JOB}[${RANGE}]))`,
      },
    },
    {
      title: 'Heap',
      unit: 'bytes',
      queries: {
        '{{v8js_heap_space_name}}': `sum by (v8js_heap_space_name) (${nameOf('v8js.memory.heap.used')}${JOB})`,
      },
    },
    {
      title: 'Versions',
      unit: 'short',
      queries: { '{{service}} {{version}}': `count by (service, version) (${nameOf('svc.build.info')})` },
    },
  ],
};

/** By the name of their file. */
export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  payments: PAYMENTS,
  webhooks: WEBHOOKS,
  messaging: MESSAGING,
  service: ONE_SERVICE,
};
