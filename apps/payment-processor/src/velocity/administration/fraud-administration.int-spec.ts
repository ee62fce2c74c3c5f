/** Administrators set limits, see counters, release and block (P11). */
import { PaymentProcessorAdministeredV1, SiteAttackLevelChangedV1 } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { buildPlainCard, createMerchant, createPartner, openInvoice } from '../../../test/partner.js';
import { type Processor, startProcessor } from '../../../test/processor.js';
import {
  answerCharges,
  APPROVED,
  DECLINED,
  LIMITS_ON,
  newCardNumber,
  payWith,
} from '../../../test/velocity/tested-cards.js';
import { DeleteExpiredCounters } from '../counters/delete-expired-counters.js';

const ADMIN_KEY = 'an-administration-key-for-these-tests-0123456789';
const DAY_MS = 86_400_000;

let processor: Processor;
let admin: ReturnType<typeof httpClient>;
beforeAll(async () => {
  processor = await startProcessor({ ...LIMITS_ON, SVC_ADMIN_KEY: ADMIN_KEY });
  admin = httpClient(processor.service, { 'x-admin-key': ADMIN_KEY });
});
afterAll(() => processor.stop());
afterEach(() => jest.restoreAllMocks());

const COUNTERS = '/admin/v1/velocity-counters';
const LIMITS = '/admin/v1/velocity-limits';
let siteId = 8000;
beforeEach(() => {
  siteId++;
});

const audited = async () => (await processor.published(PaymentProcessorAdministeredV1)).map(({ payload }) => payload);

async function declinedPaymentOf(card: string): Promise<string> {
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 4; nth++) expect(await payWith(processor, card, { siteId })).toBe('failed');
  const [row] = await processor.dataSource.query<[{ reference: string }]>(
    `SELECT payment_reference AS reference FROM payments ORDER BY accepted_at DESC, payment_id DESC LIMIT 1`,
  );
  return row.reference;
}

test('without the key nothing is shown or changed', async () => {
  const stranger = httpClient(processor.service, { 'x-admin-key': 'another-key-0123456789-0123456789-012345' });
  for (const [method, url] of [
    ['GET', `${COUNTERS}?siteId=1`],
    ['POST', `${COUNTERS}/releases`],
    ['POST', `${COUNTERS}/blocks`],
    ['GET', `${LIMITS}?merchantId=1`],
    ['POST', LIMITS],
  ] as const)
    expect((await stranger(method, url, method === 'POST' ? {} : undefined)).status).toBe(401);
});

test('a payer who was refused in error is released by the svcId of a declined payment', async () => {
  const card = newCardNumber();
  const svcId = await declinedPaymentOf(card);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  const shown = await admin('GET', `${COUNTERS}?svcId=${svcId}`);
  expect(shown.body).toMatchObject({ declinedUTCDates: [{}, {}, {}, {}].map(() => expect.any(String)), inFlight: 0 });
  expect((await admin('POST', `${COUNTERS}/releases`, { svcId })).body).toMatchObject({ declinedUTCDates: [] });
  answerCharges(processor, APPROVED);
  expect(await payWith(processor, card)).toBe('success');
  expect(await audited()).toContainEqual(
    expect.objectContaining({
      action: 'velocity-counter.released',
      after: { kind: 'card', paymentReference: svcId },
    }),
  );
});

test('no response, event or log of an administrator contains a hash', async () => {
  const svcId = await declinedPaymentOf(newCardNumber());
  const { rows } = await processor.superuser.query<{ key: string }>('SELECT counter_key AS key FROM velocity_counters');
  const hashes = rows.map(({ key }) => key.split(':').at(-1)!).filter((text) => text.length === 22);
  expect(hashes.length).toBeGreaterThan(0);
  const texts = [
    JSON.stringify((await admin('GET', `${COUNTERS}?svcId=${svcId}`)).body),
    JSON.stringify((await admin('POST', `${COUNTERS}/releases`, { svcId })).body),
    JSON.stringify(await audited()),
  ];
  for (const hash of hashes) for (const text of texts) expect(text).not.toContain(hash);
});

test('an approved payment has no card that is counted', async () => {
  answerCharges(processor, APPROVED);
  await payWith(processor, newCardNumber(), { siteId });
  const [row] = await processor.dataSource.query<[{ reference: string }]>(
    `SELECT payment_reference AS reference FROM payments WHERE state = 'success' LIMIT 1`,
  );
  expect((await admin('GET', `${COUNTERS}?svcId=${row.reference}`)).status).toBe(404);
});

test('an address can be blocked until a time, at every site', async () => {
  const untilUTCDate = processor.clock.later(60_000).toISOString();
  const address = '203.0.113.9';
  expect((await admin('POST', `${COUNTERS}/blocks`, { mode: 'test', address, untilUTCDate })).body).toMatchObject({
    closedUntilUTCDate: untilUTCDate,
  });
  const charges = answerCharges(processor, APPROVED);
  expect(await payWith(processor, newCardNumber(), { siteId, address })).toBe('card.too-many-attempts');
  expect(charges).not.toHaveBeenCalled();
  expect(await payWith(processor, newCardNumber(), { siteId, address: '203.0.113.10' })).toBe('success');
  processor.clock.advance(60_000);
  expect(await payWith(processor, newCardNumber(), { siteId, address })).toBe('success');
});

test('a range can be blocked at a site, and for a partner, and released', async () => {
  const range = '54000001';
  const untilUTCDate = processor.clock.later(DAY_MS).toISOString();
  answerCharges(processor, APPROVED);
  await admin('POST', `${COUNTERS}/blocks`, { mode: 'test', range, siteId, untilUTCDate });
  expect(await payWith(processor, newCardNumber(range), { siteId })).toBe('card.too-many-attempts');
  expect(await payWith(processor, newCardNumber(range), { siteId: 1 })).toBe('success');
  await admin('POST', `${COUNTERS}/releases`, { mode: 'test', range, siteId });
  expect(await payWith(processor, newCardNumber(range), { siteId })).toBe('success');

  const partner = await createPartner(processor);
  const { organisationId } = partner;
  await admin('POST', `${COUNTERS}/blocks`, { mode: 'test', range, organisationId, untilUTCDate });
  const merchant = await createMerchant(processor, {}, siteId);
  const pay = async () => {
    const expiresAt = processor.clock.later(60_000).toISOString();
    const card = buildPlainCard({ cardNumber: newCardNumber(range) });
    return partner.pay(await openInvoice(processor, { ...merchant, expiresAt }), { paymentMethod: { card } });
  };
  expect((await pay()).status).toBe(422);
  await admin('POST', `${COUNTERS}/releases`, { mode: 'test', range, organisationId });
  expect((await pay()).status).toBe(201);
});

test('a site that is released is no longer under attack, and the event says so', async () => {
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 20; nth++) await payWith(processor, newCardNumber(), { siteId });
  const url = `${COUNTERS}?mode=test&siteId=${siteId}`;
  expect((await admin('GET', url)).body).toMatchObject({ attackLevel: 1, attackUntilUTCDate: expect.any(String) });
  expect((await admin('POST', `${COUNTERS}/releases`, { mode: 'test', siteId })).status).toBe(200);
  expect((await admin('GET', url)).body).toMatchObject({ attackLevel: 0, declinedUTCDates: [] });
  const events = (await processor.published(SiteAttackLevelChangedV1)).filter(
    ({ payload }) => payload.siteId === siteId,
  );
  expect(events.map(({ payload }) => [payload.level, payload.version])).toEqual([
    [1, 1],
    [0, 2],
  ]);
});

test.each([
  [{ mode: 'test', siteId: 1, untilUTCDate: '2026-03-02T00:00:00Z' }],
  [{ mode: 'test', address: '192.0.2.7', untilUTCDate: '2026-02-01T00:00:00Z' }],
  [{ mode: 'test', address: '192.0.2.7', untilUTCDate: '2030-02-01T00:00:00Z' }],
  [{ mode: 'test', address: 'somewhere', untilUTCDate: '2026-03-02T00:00:00Z' }],
  [{ mode: 'test', range: '4242', siteId: 1, untilUTCDate: '2026-03-02T00:00:00Z' }],
  [{ mode: 'test', range: '42424242', untilUTCDate: '2026-03-02T00:00:00Z' }],
  [{ untilUTCDate: '2026-03-02T00:00:00Z' }],
])('refuses the block %j', async (body) => {
  expect((await admin('POST', `${COUNTERS}/blocks`, body)).status).toBe(400);
});

test("a merchant's own limits apply within a second, and the audit log has both", async () => {
  const merchantId = 31_000;
  const set = (body: object) => admin('POST', LIMITS, { merchantId, mode: 'test', ...body });
  expect((await set({ enabled: true, cardDeclinesPerDay: 2 })).body).toMatchObject({
    version: 1,
    limits: { cardDeclinesPerDay: 2 },
  });
  const card = newCardNumber();
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 2; nth++) expect(await payWith(processor, card, { merchantId, siteId })).toBe('failed');
  expect(await payWith(processor, card, { merchantId, siteId })).toBe('card.too-many-attempts');
  await set({ enabled: false });
  processor.clock.advance(1_000);
  expect(await payWith(processor, card, { merchantId, siteId })).toBe('failed');
  expect((await admin('GET', `${LIMITS}?merchantId=${merchantId}`)).body).toMatchObject({
    velocityLimits: [{ version: 2, enabled: false, limits: {} }, { version: 1 }],
  });
  expect(await audited()).toContainEqual(
    expect.objectContaining({
      action: 'velocity-limits.set',
      merchantId,
      before: { mode: 'test', enabled: true, limits: { cardDeclinesPerDay: 2 } },
      after: { mode: 'test', enabled: false, limits: {} },
    }),
  );
  expect((await set({ enabled: true, cardDeclinesPerDay: 0 })).status).toBe(400);
  expect((await set({ enabled: true, cardDeclinesPerDay: 101 })).status).toBe(400);
});

test('the job deletes expired counters page by page, and the keys of old attempts', async () => {
  await processor.superuser.query('TRUNCATE velocity_counters');
  const card = newCardNumber();
  await declinedPaymentOf(card);
  const count = async () => {
    const { rows } = await processor.superuser.query<{ counters: string; keys: string }>(
      `SELECT (SELECT count(*) FROM velocity_counters) AS counters,
              (SELECT count(*) FROM attempts WHERE velocity_keys IS NOT NULL) AS keys`,
    );
    return { counters: Number(rows[0]!.counters), hasKeys: Number(rows[0]!.keys) > 0 };
  };
  const job = processor.service.app.get(DeleteExpiredCounters);
  const walk = async () => {
    for (let step = 1; step <= 5; step++) await job.runStep(1);
  };
  await walk();
  expect(await count()).toEqual({ counters: 4, hasKeys: true });
  processor.clock.advance(DAY_MS);
  await walk();
  expect(await count()).toEqual({ counters: 1, hasKeys: true });
  processor.clock.advance(29 * DAY_MS);
  await walk();
  expect(await count()).toEqual({ counters: 0, hasKeys: false });
});
