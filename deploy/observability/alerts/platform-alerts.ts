import { type Alert, counterAlert, gaugeAlert } from './alert.ts';

/** Alerts of webhooks, messaging, databases and processes. */
export const PLATFORM_ALERTS: readonly Alert[] = [
  gaugeAlert({
    name: 'SvcWebhooksLate',
    metric: 'svc.webhook.due.age',
    is: '>',
    limit: 60,
    severity: 'page',
    runbook: {
      meaning: 'Webhooks are due for longer than a minute and are not sent.',
      look: [
        '`svc.webhook.circuits` and `./svc admin webhooks failing`: an open circuit keeps the webhooks of its endpoint due, for at most five minutes between probes.',
        'Does webhook-dispatcher run, and does its log have `delivery: leasing failed`? Then its database is the cause.',
      ],
      act: [
        'One merchant’s endpoint: tell the merchant. Nothing else waits for it.',
        'All endpoints: look at the egress of webhook-dispatcher, and add replicas if all permits are in use.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcWebhooksUnsigned',
    metric: 'svc.webhook.unsigned',
    is: '>',
    limit: 0,
    severity: 'ticket',
    runbook: {
      meaning: 'Webhooks wait because their merchant has no key that signs them.',
      look: [
        '`./svc admin webhooks list --unsigned`, and the line `notification cannot be signed: create the missing keys`.',
      ],
      act: ['`./svc admin webhook-secrets create SITE --live`. The webhooks are sent by themselves.'],
    },
  }),
  gaugeAlert({
    name: 'SvcNoHeartbeat',
    metric: 'svc.heartbeat.age',
    is: '>',
    limit: 30,
    for: '1m',
    severity: 'page',
    labels: { service: 'hosted-gateway' },
    runbook: {
      meaning: 'Heartbeats of identity do not arrive, so revoked keys may still work. Valid keys work.',
      look: [
        'All services: is identity ready (`/health/ready`), and is `svc.broker.connected` 1 there?',
        'One service: `svc.broker.waiting` of its queue, and its log.',
      ],
      act: ['Restart identity, or repair the broker. If a key must not work meanwhile, stop the services that alarm.'],
    },
  }),
  gaugeAlert({
    name: 'SvcRelayLate',
    metric: 'svc.relay.age',
    is: '>',
    limit: 60,
    severity: 'page',
    labels: { service: 'payment-processor', target: 'events' },
    runbook: {
      meaning: 'A target does not accept the events of a service. Nothing is lost, but copies and webhooks are late.',
      look: [
        'The service’s log: `relay: hand-over failed`, `relay: a consumer refuses events` or `relay: types held back`.',
        '`svc.broker.connected` and `svc.broker.waiting`: a full queue delays its own consumer.',
        'Without a line in the log, and at all targets: an old transaction holds the events back. See [SvcLedgerUnsealed](#svcledgerunsealed).',
      ],
      act: ['Repair the broker or the consumer. The relay continues by itself, from its cursor.'],
    },
  }),
  gaugeAlert({
    name: 'SvcBrokerUnreachable',
    metric: 'svc.broker.connected',
    is: '<',
    limit: 1,
    for: '1m',
    severity: 'page',
    labels: { service: 'payment-processor' },
    runbook: {
      meaning: 'A service does not reach RabbitMQ. Events wait in its event log, and requests of pages fail with 503.',
      look: ['`rabbitmqctl cluster_status`, which also lists alarms. The log: `broker: not connected`.'],
      act: [
        'Start the node again, or replace it. Services connect by themselves. See "A RabbitMQ node is lost" in [operations.md](operations.md).',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcBrokerRefusesType',
    metric: 'svc.broker.refused',
    is: '>',
    limit: 0,
    for: '1m',
    severity: 'page',
    labels: { service: 'identity', message: 'merchant.changed.v1' },
    runbook: {
      meaning: 'The permissions of RabbitMQ lack a message type. Only this type waits.',
      look: ['The label `message`, and the line `broker: refused, the permissions of the user do not allow it`.'],
      act: [
        '`rabbitmqctl import_definitions deploy/rabbitmq/permissions.json` of the release. Within 30 s everything continues.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcBrokerDeadLetters',
    metric: 'svc.broker.dead_letters',
    is: '>',
    limit: 0,
    severity: 'ticket',
    labels: { service: 'payment-history' },
    runbook: {
      meaning:
        'RabbitMQ itself has dead-lettered messages: unreadable ones, or ones that no consumer ever acknowledged.',
      look: [
        '`./svc admin dead-letters broker SERVICE` shows the oldest with its reason. `/health/ready` and the log of the service.',
      ],
      act: [
        'Repair the cause, then `./svc admin dead-letters broker-replay SERVICE`, as often as needed.',
        'Messages that stay are unreadable, or not from the service that publishes their type. When their sender is repaired, delete them: `rabbitmqctl purge_queue svc.SERVICE.dead-letters`.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcConsumerDeadLetters',
    metric: 'svc.consumer.dead_letters',
    is: '>',
    limit: 0,
    severity: 'page',
    labels: { service: 'webhook-dispatcher' },
    runbook: {
      meaning: 'A handler has failed five times for a message. Later messages continue.',
      look: ['`./svc admin dead-letters list SERVICE` shows each with its error.'],
      act: ['Repair the cause, then `./svc admin dead-letters replay-all SERVICE`. Those that fail again stay.'],
    },
  }),
  gaugeAlert({
    name: 'SvcConsumerDeferred',
    metric: 'svc.consumer.deferred',
    is: '>',
    limit: 0,
    for: '15m',
    severity: 'ticket',
    labels: { service: 'code-decoder' },
    runbook: {
      meaning: 'Messages have waited for 15 minutes for a database lock, or for a release that handles their type.',
      look: [
        "In the service’s database: `SELECT a.pid, a.usename, a.state, a.xact_start, l.relation::regclass, a.query FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.granted AND l.mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock') AND l.locktype = 'relation' ORDER BY a.xact_start;` has the transactions that lock a table.",
        'The waiting statements, with the transactions that block them: `SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0;`',
      ],
      act: [
        'End the transaction that holds the lock with `SELECT pg_terminate_backend(pid);`, or finish the rollout. The messages are handled by themselves.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcDatabasePoolExhausted',
    metric: 'db.client.connection.pending_requests',
    is: '>',
    limit: 0,
    severity: 'ticket',
    labels: { db_client_connection_pool_name: 'payment-processor' },
    runbook: {
      meaning: 'For five minutes, statements have waited for a connection of a database pool.',
      look: ['`svc.database.slow_statements`: a slow statement holds connections. `pg_stat_activity` shows which.'],
      act: ['Repair the slow statement first. Then raise `SVC_DATABASE_POOL_MAX`, if `max_connections` allows it.'],
    },
  }),
  counterAlert({
    name: 'SvcSlowStatements',
    metric: 'svc.database.slow_statements',
    perHour: 20,
    severity: 'ticket',
    labels: { service: 'merchant-retrieval' },
    runbook: {
      meaning: 'More than 20 statements of a service took longer than a second within an hour.',
      look: [
        '`pg_stat_activity` and `pg_stat_statements` of its database; spans with `db.query.text` have the statement.',
      ],
      act: [
        'A missing statistic after a bulk change: `ANALYZE`. A lock: end its holder. Otherwise the statement needs an index.',
      ],
    },
  }),
  gaugeAlert({
    name: 'SvcEventLoopBlocked',
    metric: 'nodejs.eventloop.delay.p99',
    is: '>',
    limit: 0.5,
    severity: 'ticket',
    labels: { job: 'hosted-gateway' },
    runbook: {
      meaning: 'A process does not respond for half a second at a time: it has too little CPU, or one task blocks it.',
      look: [
        '`v8js.gc.duration` and the CPU throttling of the pod. A long garbage collection means too little memory.',
      ],
      act: ['Add replicas or CPU. If only one replica is affected, restart it, and keep its log and a CPU profile.'],
    },
  }),
  counterAlert({
    name: 'SvcMailsNotSent',
    metric: 'svc.mails',
    where: { outcome: 'unavailable' },
    perHour: 5,
    severity: 'ticket',
    runbook: {
      meaning: 'The SMTP server does not accept e-mails, such as receipts and sign-in links.',
      look: ['The line `mail not sent` has its response code.'],
      act: ['Repair the SMTP server or its credentials. Payers may request a receipt again.'],
    },
  }),
  counterAlert({
    name: 'SvcPageContentInjected',
    metric: 'svc.page.csp-reports',
    perHour: 100,
    severity: 'ticket',
    runbook: {
      meaning: 'Browsers report more than 100 violations of the payment page’s content security policy within an hour.',
      look: [
        'A proxy or a browser extension in common? Load the page through the public address, and compare its script with the release.',
      ],
      act: [
        'If the page itself is changed, take the proxy that changes it out of service at once: card data may leak.',
      ],
    },
  }),
  {
    name: 'SvcServiceMissing',
    metrics: ['svc.build.info'],
    expression: 'group by (service) (max_over_time(svc_build_info[1d])) unless group by (service) (svc_build_info)',
    for: '5m',
    severity: 'page',
    labels: ['service'],
    runbook: {
      meaning: 'A service that reported metrics within the last day reports none, so its other alerts cannot fire.',
      look: [
        '`kubectl get pods`, here `./svc status`: does the service run, and is it ready?',
        'If it runs: its log, and in Prometheus `up`. The network policy for telemetry may refuse its metrics.',
      ],
      act: [
        'Start it again: `kubectl rollout restart deploy/SERVICE`, here `./svc restart SERVICE`. Its messages have waited for it.',
        'A service that was removed on purpose: silence the alert. It ends a day after the last metrics.',
      ],
    },
    test: {
      firing: [
        { series: 'svc_build_info{service="identity", version="1.0.0"}', values: '1x30 _x90' },
        { series: 'svc_build_info{service="console", version="1.0.0"}', values: '1x120' },
      ],
      silent: [
        { series: 'svc_build_info{service="identity", version="1.0.0"}', values: '1x30 _x90' },
        { series: 'svc_build_info{service="identity", version="1.0.1"}', values: '_x30 1x90' },
      ],
      at: '90m',
      labels: { service: 'identity' },
    },
  },
  {
    name: 'SvcNoMetrics',
    metrics: ['svc.build.info'],
    expression: 'absent(svc_build_info)',
    for: '5m',
    severity: 'page',
    labels: [],
    runbook: {
      meaning: 'No service reports metrics, so no other alert can fire.',
      look: ['The collector, and `OTEL_EXPORTER_OTLP_ENDPOINT` of the services. In Prometheus: `up`.'],
      act: ['Repair the collector or the network policy for telemetry. Until then watch the logs.'],
    },
    test: {
      firing: [{ series: 'up', values: '1x120' }],
      silent: [{ series: 'svc_build_info{service="identity", version="1.0.0"}', values: '1x120' }],
      at: '90m',
      labels: {},
    },
  },
];
