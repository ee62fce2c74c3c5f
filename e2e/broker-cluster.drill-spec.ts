/**
 * The loss of each node of a RabbitMQ cluster, and a partition, under load: payments continue within seconds, and no
 * charge is lost or made twice. Two replicas each of hosted-gateway and payment-processor share the load.
 *
 * This drill takes many minutes and needs root (rabbitmq-cluster.ts), so `./svc test` does not run it. Run it with
 * `./svc npm run drill -- broker-cluster`.
 */
import { letTimePass, PATIENCE, waitUntil } from '@svc/testing';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { ConsistencyCheck } from './consistency/consistency-check.js';
import { type NodeNumber, RabbitMqCluster } from './faults/rabbitmq-cluster.js';
import { type SentRequest, SteadyLoad } from './faults/steady-load.js';
import { Platform } from './platform/platform.js';
import { ServiceReplica } from './platform/service-replica.js';

const PAYERS = 6;
/** Delay of the acquirer, so that there are always unfinished charges. */
const ACQUIRER_MS = 500;
/** Payments must continue within this time after a fault. */
const MAX_INTERRUPTION_MS = 10_000 * PATIENCE;
/** How long the load is observed after a fault. The cluster needs about ten seconds to detect a partition. */
const OBSERVED_MS = 40_000;

interface FaultResult {
  readonly fault: string;
  readonly payments: number;
  readonly failed: number;
  /** Longest time without a successful payment. */
  readonly longestGapMs: number;
  /** From the fault to the end of the last payment that failed. */
  readonly lastFailureMs: number;
  /** From the end of the observation until all webhooks were acknowledged. */
  readonly webhooksMs: number;
}

describe('a cluster of three RabbitMQ nodes', () => {
  let cluster: RabbitMqCluster;
  let platform: Platform;
  let endpoint: MerchantEndpoint;
  let consistency: ConsistencyCheck;
  let load: SteadyLoad;
  const replicas: ServiceReplica[] = [];
  const results: FaultResult[] = [];

  beforeAll(async () => {
    cluster = await RabbitMqCluster.start();
    const settings = {
      SVC_AMQP_URL: cluster.urls,
      SVC_RABBITMQ_MANAGEMENT_URL: cluster.managementUrl,
      SVC_ACQUIRER_LATENCY_MS: String(ACQUIRER_MS),
    };
    platform = await Platform.start('broker-cluster', settings, 'distributed');
    endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => 200);
    consistency = new ConsistencyCheck(platform, endpoint);
    replicas.push(await ServiceReplica.start(platform, 'payment-processor'));
    const gateway = await ServiceReplica.start(platform, 'hosted-gateway');
    replicas.push(gateway);
    load = new SteadyLoad(platform, endpoint.url, [platform.demo.gatewayUrl, gateway.url]);
    load.start(PAYERS);
    await waitUntil('every payer to be paying', 60_000, () => Promise.resolve(load.paid >= 2 * PAYERS));
  });
  afterAll(async () => {
    if (results.length > 0) process.stdout.write(`${formatTable(results)}\n`);
    await load?.stop();
    for (const replica of replicas) await replica.end();
    await platform?.stop();
    await endpoint?.stop();
    await cluster?.stop();
  });

  const paymentsFrom = (from: number, isSuccessful: boolean): SentRequest[] =>
    load.sent.filter((one) => one.request === 'pay' && one.to >= from && (one.failure === undefined) === isSuccessful);

  async function expectPaymentsToContinue(fault: string, cause: () => unknown, end: () => unknown): Promise<void> {
    const faultAt = Date.now();
    await cause();
    await letTimePass(faultAt + OBSERVED_MS - Date.now());
    const observedUntil = Date.now();
    const [successful, failed] = [paymentsFrom(faultAt, true), paymentsFrom(faultAt, false)];
    await end();
    const ends = [faultAt, ...successful.map(({ to }) => to).sort((a, b) => a - b), observedUntil];
    await cluster.waitUntilWhole();
    const healedAt = Date.now();
    await waitUntil('payments after the end of the fault', 60_000, () =>
      Promise.resolve(paymentsFrom(healedAt, true).length >= PAYERS),
    );
    await waitUntil('the webhooks', 60_000, () =>
      Promise.resolve(consistency.unacknowledgedCharges().length <= 4 * PAYERS),
    );
    const result = {
      fault,
      payments: successful.length,
      failed: failed.length,
      longestGapMs: Math.max(...ends.slice(1).map((to, index) => to - ends[index]!)),
      lastFailureMs: Math.max(0, ...failed.map(({ to }) => to - faultAt)),
      webhooksMs: Date.now() - healedAt,
    };
    results.push(result);
    process.stdout.write(
      `${JSON.stringify(result)} ${JSON.stringify([...new Set(failed.map((one) => one.failure))])}\n`,
    );
    expect(result.longestGapMs).toBeLessThan(MAX_INTERRUPTION_MS);
    expect(result.lastFailureMs).toBeLessThan(MAX_INTERRUPTION_MS);
  }

  it.each<NodeNumber>([1, 2, 3])('payments continue after a kill of node %d', async (node) => {
    await expectPaymentsToContinue(
      `kill -9 of node ${node}`,
      () => cluster.kill(node),
      () => cluster.startNode(node),
    );
  });

  it.each<NodeNumber>([1, 2, 3])('payments continue while node %d is cut off from the others', async (node) => {
    await expectPaymentsToContinue(
      `partition of node ${node}`,
      () => cluster.isolate(node),
      () => cluster.reconnect(node),
    );
  });

  it('each charge at the acquirer has one payment, one ledger entry and its webhooks, and there are no others', async () => {
    await load.stop();
    await consistency.waitUntilAcknowledged();
    const charges = consistency.approvedCharges();
    const references = charges.map(({ paymentReference }) => paymentReference).sort();
    expect(new Set(references).size).toBe(references.length);
    const payments = await platform.sql<{ reference: string; payableId: string; state: string; transfers: number }>(
      `SELECT payment_reference AS reference, payable_id AS "payableId", state,
              (SELECT count(*)::int FROM payment_processor.transfers t WHERE t.payment_id = p.payment_id) AS transfers
         FROM payment_processor.payments p`,
    );
    const successful = payments.filter(({ state }) => state === 'success');
    expect(successful.map(({ reference }) => reference).sort()).toEqual(references);
    expect(new Set(successful.map(({ payableId }) => payableId)).size).toBe(successful.length);
    expect(successful.filter(({ transfers }) => transfers !== 1)).toEqual([]);
    expect(
      payments.filter(({ state, transfers }) => state !== 'success' && (state !== 'failed' || transfers > 0)),
    ).toEqual([]);
    const notified = new Set(endpoint.deliveries.map(({ payment }) => payment.paymentReference));
    expect(references.filter((reference) => !notified.has(reference))).toEqual([]);
    process.stdout.write(`${load.paid} payments answered with success, ${charges.length} charges\n`);
    expect(charges.length).toBeGreaterThanOrEqual(load.paid);
  });
});

function formatTable(results: readonly FaultResult[]): string {
  const rows = [
    ['fault', 'payments', 'failed', 'longest gap', 'last failure', 'webhooks'],
    ...results.map(({ fault, payments, failed, longestGapMs, lastFailureMs, webhooksMs }) => [
      fault,
      String(payments),
      String(failed),
      ...[longestGapMs, lastFailureMs, webhooksMs].map((milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}
