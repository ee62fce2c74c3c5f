import type { HostedPaymentSnapshot } from '@svc/contracts';
import { GaugeReader, httpClient, type HttpResponse } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { TestDispute } from '../../test/disputes.js';
import { createRefundClient, type KeyOwner } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';

const DAY_MS = 86_400_000;
const gauges = GaugeReader.begin();
let processor: Processor;
let merchantId = 120_000;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterAll(async () => {
  await processor.stop();
  gauges.end();
});
beforeEach(async () => {
  await processor.superuser.query(
    `SET session_replication_role = replica; TRUNCATE disputes CASCADE; TRUNCATE dispute_incidents; SET session_replication_role = DEFAULT`,
  );
  merchantId++;
});

const pay = (overrides: Parameters<typeof buildPayable>[0] = {}): Promise<HostedPaymentSnapshot> =>
  processor.pay(buildPayable({ merchantId, ...overrides }));

describe('GET …/disputes?svcId= (M8)', () => {
  async function createClient(owner: Partial<KeyOwner> = {}) {
    const { apiKey } = await createRefundClient(processor, { merchantId, ...owner });
    return (query: string, merchant = merchantId): Promise<HttpResponse> =>
      httpClient(processor.service, { 'x-api-key': apiKey })(
        'GET',
        `/business/api/v1/merchants/${merchant}/disputes${query}`,
      );
  }

  test('lists the disputes of a payment, newest first', async () => {
    const { paymentReference, mode } = await pay();
    const list = await createClient();
    expect(await list(`?svcId=${paymentReference}`)).toMatchObject({ status: 200, body: [] });
    const disputes = [1, 2].map(() => new TestDispute(processor, { paymentReference, mode }));
    const createdUTCDate = processor.clock.nowISO();
    const respondBy = processor.clock.later(DAY_MS);
    await disputes[0]!.report('opened', { respondBy, amount: 2_000 });
    processor.clock.advance(1_000);
    await disputes[1]!.report('debited', { reason: {} });
    const { status, body, headers } = await list(`?svcId=${paymentReference.toLowerCase()}`);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const disputeReference = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    expect(body).toEqual([
      {
        ...{ disputeReference, svcId: paymentReference, stage: 'debited', amount: 10_000, reason: '' },
        createdUTCDate: processor.clock.nowISO(),
      },
      {
        ...{ disputeReference, svcId: paymentReference, stage: 'opened', amount: 2_000 },
        ...{ reason: '10.4 Other Fraud-Card Absent Environment', respondByUTCDate: respondBy.toISOString() },
        createdUTCDate,
      },
    ]);
  });

  test('lists only disputes of the payment, and a site’s key only those of its site', async () => {
    const [first, second] = [await pay({ siteId: 5001 }), await pay({ siteId: 5002 })];
    for (const payment of [first, second]) await new TestDispute(processor, payment).report('opened');
    const [ofMerchant, ofSite] = [await createClient(), await createClient({ siteId: 5001 })];
    const statuses = async (list: typeof ofMerchant) => {
      const responses = [
        await list(`?svcId=${first.paymentReference}`),
        await list(`?svcId=${second.paymentReference}`),
      ];
      return responses.map(({ status, body }) => (status === 200 ? (body as unknown[]).length : status));
    };
    expect([await statuses(ofMerchant), await statuses(ofSite)]).toEqual([
      [1, 1],
      [1, 404],
    ]);
  });

  test('does not find payments of other merchants and of the other mode, and unknown ones', async () => {
    const [foreign, live] = [await pay({ merchantId: 999_999 }), await pay({ mode: 'live' })];
    const list = await createClient();
    for (const svcId of [foreign.paymentReference, live.paymentReference, 'unknown', '0'.repeat(18)])
      expect(await list(`?svcId=${svcId}`)).toMatchObject({ status: 404, body: { status: 404 } });
    expect(await list(`?svcId=${foreign.paymentReference}`, 999_999)).toMatchObject({ status: 403 });
    const listLive = await createClient({ mode: 'live' });
    expect(await listLive(`?svcId=${live.paymentReference}`)).toMatchObject({ status: 200, body: [] });
  });

  test.each(['', '?svcId=', '?svcId=a&svcId=b'])(
    'rejects the query "%s" with 400, and a missing key with 401',
    async (query) => {
      const list = await createClient();
      expect(await list(query)).toMatchObject({ status: 400, body: { errors: [{ field: 'svcId' }] } });
      const path = `/business/api/v1/merchants/${merchantId}/disputes${query}`;
      expect((await httpClient(processor.service, {})('GET', path)).status).toBe(401);
    },
  );
});

describe('the administration API', () => {
  const get = (
    path: string,
    key = processor.service.app.get(PaymentProcessorConfig).SVC_ADMIN_KEY,
  ): Promise<HttpResponse> => httpClient(processor.service, { 'x-admin-key': key })('GET', `/admin/v1/disputes${path}`);

  test('lists open disputes first, with the nearest deadline first, and then the newest others', async () => {
    const report = async (amount: number, kinds: readonly ('opened' | 'debited' | 'lost')[], days?: number) => {
      const dispute = new TestDispute(processor, await pay());
      const respondBy = days === undefined ? undefined : processor.clock.later(days * DAY_MS);
      for (const kind of kinds) await dispute.report(kind, { amount, respondBy });
      processor.clock.advance(1);
      return dispute;
    };
    await report(1, ['opened', 'lost']);
    await report(2, ['opened']);
    await report(3, ['debited'], 9);
    await report(4, ['opened'], 2);
    await report(5, ['opened', 'lost']);
    const { status, body } = await get('');
    const { disputes } = body as { disputes: { amount: number }[] };
    expect([status, disputes.map(({ amount }) => amount)]).toEqual([200, [4, 3, 2, 5, 1]]);
  });

  test('shows the acquirer and the incidents of a dispute, and the disputes of one payment', async () => {
    const payment = await pay();
    const dispute = new TestDispute(processor, payment);
    await dispute.report('debited');
    await dispute.report('debited', { reportReference: 'again' });
    await dispute.report('debited', { reportReference: 'again' });
    const ofOtherMode = { mode: 'live', reportReference: 'live', occurredAt: new Date(NaN) } as const;
    await dispute.report('debited', ofOtherMode);
    await processor.superuser.query(
      `UPDATE dispute_incidents SET last_seen_at = last_seen_at - interval '1 s' WHERE mode = 'live'`,
    );
    await new TestDispute(processor, await pay()).report('opened');
    const { body } = await get(`?svcId=${payment.paymentReference}`);
    expect(body).toEqual({
      disputes: [
        {
          disputeReference: expect.any(String) as string,
          ...{ svcId: payment.paymentReference, stage: 'debited', amount: 10_000, currencyISOCode: 'ZAR' },
          ...{ reason: '10.4 Other Fraud-Card Absent Environment', respondByUTCDate: null },
          ...{ merchantId, siteId: 5001, mode: 'test', acquirer: 'simulated', incidents: 2 },
          acquirerReference: dispute.disputeReference,
          createdUTCDate: processor.clock.nowISO(),
          modifiedUTCDate: processor.clock.nowISO(),
        },
      ],
    });
    expect((await get('/incidents')).body).toEqual({
      incidents: [
        {
          ...{ acquirer: 'simulated', mode: 'test', disputeReference: dispute.disputeReference },
          ...{ reportReference: 'again', problem: 'repeatedMovement', occurrences: 2 },
          report: expect.stringContaining(payment.paymentReference) as string,
          firstSeenUTCDate: processor.clock.nowISO(),
          lastSeenUTCDate: processor.clock.nowISO(),
        },
        expect.objectContaining({ mode: 'live', reportReference: 'live', problem: 'invalidReport' }),
      ],
    });
    expect((await get('?svcId=unknown')).body).toEqual({ disputes: [] });
    expect((await get('?svcId=a&svcId=b')).status).toBe(400);
    expect([(await get('', 'wrong')).status, (await get('/incidents', 'wrong')).status]).toEqual([401, 401]);
  });
});

test('the metrics count open disputes, and tell the nearest deadline that is not over', async () => {
  const report = async (kind: 'opened' | 'debited' | 'won', ms?: number) =>
    new TestDispute(processor, await pay()).report(kind, {
      respondBy: ms === undefined ? undefined : processor.clock.later(ms),
    });
  await report('won');
  await report('opened');
  await report('debited', 1_000);
  await report('debited', 5_000);
  await report('debited', 9_000);
  processor.clock.advance(2_000);
  const attributes = (stage: string, mode = 'test') => ({ mode, stage });
  expect(await gauges.read('svc.disputes.open')).toEqual([
    { value: 0, attributes: attributes('inquiry') },
    { value: 1, attributes: attributes('opened') },
    { value: 3, attributes: attributes('debited') },
    { value: 0, attributes: attributes('reversed') },
    ...['inquiry', 'opened', 'debited', 'reversed'].map((stage) => ({
      value: 0,
      attributes: attributes(stage, 'live'),
    })),
  ]);
  const readDeadlines = async (): Promise<Map<unknown, unknown>> => {
    const read = await gauges.read('svc.disputes.nearest.deadline');
    return new Map(read.map(({ value, attributes: { mode, stage } }) => [`${String(mode)} ${String(stage)}`, value]));
  };
  const MONTH = 31 * 86_400;
  const deadlines = await readDeadlines();
  expect(deadlines.get('test debited')).toBe(3);
  expect(deadlines.get('test opened')).toBe(MONTH);
  expect(deadlines.size).toBe(8);
  // The deadlines are over: the collector must not keep the last one.
  processor.clock.advance(60_000);
  expect((await readDeadlines()).get('test debited')).toBe(MONTH);
});
