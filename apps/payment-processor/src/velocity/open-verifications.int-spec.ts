/** Payments whose payer must confirm them with the bank (3-D Secure) count until the payer has finished (P11). */
import type { HostedPayableDescriptor, PayableDescriptor } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { buildPlainCard, createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import {
  answerCharges,
  APPROVED,
  DECLINED,
  LIMITS_ON,
  newCardNumber,
  payWith,
  readCounters,
} from '../../test/velocity/tested-cards.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { CardFingerprints } from './card-fingerprints.js';
import { VelocityCounterRepository } from './counters/velocity-counter.repository.js';
import { VelocityChecks } from './velocity-checks.js';
import { VelocityGuard } from './velocity-guard.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const VERIFICATION_MS = 15 * MINUTE_MS;
const CHALLENGE = {
  kind: 'verificationRequired',
  challenge: { reference: 'c-1', url: 'https://bank.example/challenges/c-1' },
} as const;

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
});
afterAll(() => processor.stop());
beforeEach(() =>
  processor.superuser.query(`INSERT INTO attacked_sites VALUES ('test', 5001, 1001, 1, '2999-01-01', 1, now())`),
);
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.superuser.query('TRUNCATE velocity_counters, attacked_sites');
  await processor.superuser.query('UPDATE verifications SET open = false');
});

const openSession = (overrides: Parameters<typeof buildPayable>[0] = {}): HostedPayableDescriptor =>
  buildPayable({ expiresAt: processor.clock.later(HOUR_MS).toISOString(), ...overrides });

let addresses = 0;
const newAddress = (): string => `198.51.100.${++addresses % 256}`;

/** Begins a payment whose payer must confirm it. */
async function begin(card: string, address = newAddress(), payable = openSession()): Promise<HostedPayableDescriptor> {
  const charges = answerCharges(processor, CHALLENGE);
  expect(await payWith(processor, card, { ...payable, address })).toBe('verificationRequired');
  charges.mockRestore();
  return payable;
}

/** The payer returns from the bank's page, and the page polls. */
async function finish(payable: HostedPayableDescriptor, state: 'passed' | 'failed'): Promise<void> {
  const states = jest.spyOn(processor.acquirer, 'getChallengeState').mockResolvedValue(state);
  processor.clock.advance(1_000);
  await processor.pollPayments(payable);
  states.mockRestore();
}

const answerVerified = (
  outcome: typeof APPROVED | (Omit<typeof DECLINED, 'reason'> & { reason: 'card.declined' | 'verification.failed' }),
) => jest.spyOn(processor.acquirer, 'chargeVerified').mockResolvedValue(outcome);

test('of a card with four open verifications the fifth never reaches the acquirer', async () => {
  const card = newCardNumber();
  for (let nth = 1; nth <= 4; nth++) await begin(card);
  const charges = answerCharges(processor, CHALLENGE);
  expect(await payWith(processor, card, { address: newAddress() })).toBe('card.too-many-attempts');
  expect(charges).not.toHaveBeenCalled();
  expect(await readCounters(processor)).toContainEqual({ scope: 'card', inFlight: 4, declines: 0 });
});

test('at a site under attack an address has two open verifications, which are declines when they are abandoned', async () => {
  const address = newAddress();
  await begin(newCardNumber(), address);
  await begin(newCardNumber(), address);
  const charges = answerCharges(processor, CHALLENGE);
  expect(await payWith(processor, newCardNumber(), { address })).toBe('request.rate-limited');
  processor.clock.advance(VERIFICATION_MS - 1);
  await processor.runCleanup();
  expect(await payWith(processor, newCardNumber(), { address })).toBe('request.rate-limited');
  processor.clock.advance(1);
  await processor.runCleanup();
  expect(await payWith(processor, newCardNumber(), { address })).toBe('card.too-many-attempts');
  expect(charges).not.toHaveBeenCalled();
  processor.clock.advance(HOUR_MS);
  expect(await payWith(processor, newCardNumber(), { address })).toBe('verificationRequired');
});

test('a payer who confirms the payment leaves no counter', async () => {
  const payable = await begin(newCardNumber());
  const before = await readCounters(processor);
  answerVerified(APPROVED);
  await finish(payable, 'passed');
  expect(before).toEqual([
    { scope: 'address', inFlight: 1, declines: 0 },
    { scope: 'card', inFlight: 1, declines: 0 },
  ]);
  expect(await processor.findPayable(payable.payableId)).toMatchObject({ payable: { state: 'paid' } });
  expect(await readCounters(processor)).toEqual([]);
  await expectKeptKeys(payable, []);
});

test('a verification that failed counts as a decline of the card, its range and the address, and not of the site', async () => {
  const card = newCardNumber();
  const payable = await begin(card);
  await finish(payable, 'failed');
  expect(await readCounters(processor)).toEqual([
    { scope: 'address', inFlight: 0, declines: 1 },
    { scope: 'card', inFlight: 0, declines: 1 },
    { scope: 'range', inFlight: 0, declines: 1 },
  ]);
  // An administrator finds the card by the payment.
  await expectKeptKeys(payable, ['card']);
});

test('an abandoned verification counts once, and is no attack', async () => {
  await processor.superuser.query('TRUNCATE attacked_sites');
  for (let nth = 1; nth <= 20; nth++) await begin(newCardNumber());
  processor.clock.advance(VERIFICATION_MS);
  await Promise.all([processor.runCleanup(), processor.runCleanup()]);
  const counters = await readCounters(processor);
  expect(counters.filter(({ scope }) => scope === 'card')).toEqual(
    Array.from({ length: 20 }, () => ({ scope: 'card', inFlight: 0, declines: 1 })),
  );
  expect(counters.map(({ scope }) => scope)).not.toContain('site');
  expect(await processor.dataSource.query('SELECT FROM attacked_sites')).toEqual([]);
});

test('a verification does not count if its payer has paid with another card', async () => {
  const address = newAddress();
  const payable = await begin(newCardNumber(), address);
  answerCharges(processor, APPROVED);
  const binding = { ...payable, address, paymentNumber: 2 };
  expect(await payWith(processor, newCardNumber(), binding)).toBe('success');
  processor.clock.advance(VERIFICATION_MS);
  await processor.runCleanup();
  expect(await readCounters(processor)).toEqual([]);
});

test('a verification counts if all payments of its session were used', async () => {
  const payable = await begin(newCardNumber(), undefined, openSession({ maxPayments: 2 }));
  answerCharges(processor, DECLINED);
  expect(await payWith(processor, newCardNumber(), { ...payable, address: newAddress(), paymentNumber: 2 })).toBe(
    'failed',
  );
  await processor.superuser.query('TRUNCATE velocity_counters');
  await finish(payable, 'passed');
  expect(await readCounters(processor)).toContainEqual({ scope: 'card', inFlight: 0, declines: 1 });
});

test.each([
  ['declined for the card counts only for the card, because its payer has confirmed the payment', 'card.declined', []],
  ['declined because the confirmation failed counts for the address', 'verification.failed', ['address']],
] as const)('a charge after a verification that is %s', async (_, reason, scopes) => {
  const payable = await begin(newCardNumber());
  answerVerified({ ...DECLINED, reason });
  await finish(payable, 'passed');
  const counters = await readCounters(processor);
  expect(counters.filter(({ inFlight }) => inFlight > 0)).toEqual([]);
  expect(counters.map(({ scope }) => scope)).toEqual([...scopes, 'card', 'range', 'site']);
});

test('a charge after a verification whose outcome is found later frees the address', async () => {
  const payable = await begin(newCardNumber());
  jest.spyOn(processor.acquirer, 'chargeVerified').mockResolvedValue({ kind: 'unknown' });
  await finish(payable, 'passed');
  expect(await readCounters(processor)).toContainEqual({ scope: 'address', inFlight: 1, declines: 0 });
  jest.spyOn(processor.acquirer, 'getChargeStatus').mockResolvedValue(DECLINED);
  processor.clock.advance(10_000);
  await processor.recoverAttempts();
  expect((await readCounters(processor)).map(({ scope }) => scope)).toEqual(['card', 'range', 'site']);
});

describe('another request of a payment that is not accepted', () => {
  const PAYER = { mode: 'test', merchantId: 1001, siteId: 5001, payer: { address: '192.0.2.7' } } as const;
  const app = () => processor.service.app;

  /** Frees the payment of this payable, as a request does that another request of the same payment has overtaken. */
  async function free({ payableId }: Pick<PayableDescriptor, 'payableId'>, card: string, count = false): Promise<void> {
    const [{ paymentId }] = await processor.dataSource.query<[{ paymentId: string }]>(
      `SELECT payment_id AS "paymentId" FROM payments WHERE payable_id = $1`,
      [payableId],
    );
    const fingerprint = app().get(CardFingerprints).ofCard('test', card);
    const checks = (await app().get(VelocityChecks).build(PAYER, fingerprint, paymentId))!;
    if (count) await app().get(VelocityCounterRepository).count(checks);
    await app().get(VelocityGuard).free(checks);
  }
  const countOf = async () => (await readCounters(processor)).find(({ scope }) => scope === 'card');

  test('does not free it while its payer is at the bank, nor while its outcome is unknown', async () => {
    const card = newCardNumber();
    const payable = await begin(card);
    await free(payable, card);
    expect(await countOf()).toMatchObject({ inFlight: 1 });
    jest.spyOn(processor.acquirer, 'chargeVerified').mockResolvedValue({ kind: 'unknown' });
    await finish(payable, 'passed');
    await free(payable, card);
    expect(await countOf()).toMatchObject({ inFlight: 1 });
  });

  test('frees it if it has ended, and if its payer has not opened our page yet', async () => {
    const card = newCardNumber();
    const payable = await begin(card);
    answerVerified(APPROVED);
    await finish(payable, 'passed');
    await free(payable, card, true);
    expect(await countOf()).toMatchObject({ inFlight: 0 });
    jest.replaceProperty(app().get(Acquirers).get('simulated'), 'needsBrowser', true);
    const partner = await createPartner(processor);
    const invoice = await openInvoice(processor, {
      ...(await createMerchant(processor)),
      expiresAt: processor.clock.later(HOUR_MS).toISOString(),
    });
    const paid = await partner.pay(invoice, { paymentMethod: { card: buildPlainCard({ cardNumber: card }) } });
    expect(paid.body).toMatchObject({ status: 'verificationRequired' });
    await free(invoice, card, true);
    expect(await countOf()).toMatchObject({ inFlight: 0 });
  });
});

/** The scopes of the counters that the attempts of the payable keep. */
async function expectKeptKeys({ payableId }: HostedPayableDescriptor, scopes: readonly string[]): Promise<void> {
  const rows = await processor.dataSource.query<{ scope: string }[]>(
    `SELECT split_part(k.key, ':', 1) AS scope
       FROM payments p JOIN attempts a ON a.payment_id = p.payment_id CROSS JOIN LATERAL unnest(a.velocity_keys) AS k(key)
      WHERE p.payable_id = $1`,
    [payableId],
  );
  expect(rows.map(({ scope }) => scope)).toEqual(scopes);
}
