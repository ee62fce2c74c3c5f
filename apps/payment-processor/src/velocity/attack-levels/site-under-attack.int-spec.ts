/** Sites at which stolen cards are tested: their level, its event, and what changes while they are under attack (P11). */
import { SiteAttackLevelChangedV1 } from '@svc/contracts';
import { GaugeReader } from '@svc/testing';
import { buildPlainCard, createMerchant, createPartner, openInvoice } from '../../../test/partner.js';
import { type Processor, startProcessor } from '../../../test/processor.js';
import {
  answerCharges,
  APPROVED,
  DECLINED,
  LIMITS_ON,
  newCardNumber,
  payWith,
  readCounters,
} from '../../../test/velocity/tested-cards.js';
import { AttackedSiteRepository } from './attacked-site.repository.js';

const HOUR_MS = 3_600_000;

let processor: Processor;
let gauges: GaugeReader;
beforeAll(async () => {
  gauges = GaugeReader.begin();
  processor = await startProcessor(LIMITS_ON);
});
afterAll(async () => {
  await processor.stop();
  gauges.end();
});

let siteId = 7000;
let addresses = 0;
beforeEach(() => {
  siteId++;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.superuser.query('TRUNCATE velocity_counters');
});

const newAddress = (): string => `198.51.100.${++addresses % 256}`;
const pay = (address = newAddress(), card = newCardNumber()): Promise<string> =>
  payWith(processor, card, { siteId, address });

/** Pays with `count` different cards that are declined, each from another address. */
async function declineCards(count: number): Promise<void> {
  const charges = answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= count; nth++) expect(await pay()).toBe('failed');
  charges.mockRestore();
}

async function attack(): Promise<void> {
  await declineCards(20);
}

const levelEvents = async () => {
  const events = await processor.published(SiteAttackLevelChangedV1);
  return events.filter(({ payload }) => payload.siteId === siteId);
};

describe('the level', () => {
  test('rises with the twentieth and the fortieth declined card, each with one event', async () => {
    await declineCards(19);
    expect(await levelEvents()).toEqual([]);
    await declineCards(1);
    const untilUTCDate = processor.clock.later(HOUR_MS).toISOString();
    const site = { mode: 'test', merchantId: 1001, siteId };
    expect(await levelEvents()).toMatchObject([
      { aggregateId: `test:${siteId}`, aggregateVersion: 1, payload: { ...site, level: 1, untilUTCDate, version: 1 } },
    ]);
    await declineCards(20);
    expect(await levelEvents()).toMatchObject([{}, { aggregateVersion: 2, payload: { level: 2, version: 2 } }]);
  });

  test('does not rise for one card that is declined again', async () => {
    answerCharges(processor, DECLINED);
    for (let nth = 1; nth <= 10; nth++) {
      const card = newCardNumber();
      await pay(newAddress(), card);
      await pay(newAddress(), card);
    }
    expect(await levelEvents()).toEqual([]);
  });

  test('does not rise at a busy shop, whose declines are a small share', async () => {
    const approvals = answerCharges(processor, APPROVED);
    for (let nth = 1; nth <= 81; nth++) await pay();
    approvals.mockRestore();
    await declineCards(20);
    expect(await levelEvents()).toEqual([]);
  });

  test('is changed by one of two processes that decide at the same time', async () => {
    const sites = processor.service.app.get(AttackedSiteRepository);
    const site = { mode: 'test', merchantId: 1001, siteId } as const;
    const change = { level: 2, endsAt: processor.clock.later(HOUR_MS) } as const;
    const results = await Promise.all([1, 2, 3].map(() => sites.change(undefined, site, change, 0)));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await levelEvents()).toHaveLength(1);
  });
});

describe('an address at a site under attack', () => {
  beforeEach(attack);

  test('is refused after two declined cards, and only there', async () => {
    const address = newAddress();
    answerCharges(processor, DECLINED);
    expect(await pay(address)).toBe('failed');
    expect(await pay(address)).toBe('failed');
    const charges = answerCharges(processor, APPROVED);
    expect(await pay(address)).toBe('card.too-many-attempts');
    expect(charges).not.toHaveBeenCalled();
    expect(await payWith(processor, newCardNumber(), { siteId: 6000, address })).toBe('success');
    expect(await pay()).toBe('success');
  });

  test.each(['', 'unknown', '192.0.2.7:5678'])(
    'that is unknown ("%s") is one address for all payers',
    async (address) => {
      answerCharges(processor, DECLINED);
      expect(await pay(address)).toBe('failed');
      expect(await payWith(processor, newCardNumber(), { siteId })).toBe('failed');
      answerCharges(processor, APPROVED);
      expect(await pay(address)).toBe('card.too-many-attempts');
      expect(await payWith(processor, newCardNumber(), { siteId })).toBe('card.too-many-attempts');
      expect(await pay()).toBe('success');
    },
  );

  test('is not refused to a payer who mistypes the CVV twice', async () => {
    const [address, card] = [newAddress(), newCardNumber()];
    answerCharges(processor, { ...DECLINED, reason: 'card.incorrect-cvv' });
    expect(await pay(address, card)).toBe('failed');
    expect(await pay(address, card)).toBe('failed');
    answerCharges(processor, APPROVED);
    expect(await pay(address, card)).toBe('success');
  });

  test('of many payers has as many declines as approvals', async () => {
    const address = newAddress();
    answerCharges(processor, APPROVED);
    for (let nth = 1; nth <= 4; nth++) expect(await pay(address)).toBe('success');
    answerCharges(processor, DECLINED);
    for (let nth = 1; nth <= 4; nth++) expect(await pay(address)).toBe('failed');
    expect(await pay(address)).toBe('card.too-many-attempts');
  });

  test('is a network of 64 bits for IPv6', async () => {
    answerCharges(processor, DECLINED);
    await pay('2001:db8:0:1::1');
    await pay('2001:db8:0:1:ffff::2');
    answerCharges(processor, APPROVED);
    expect(await pay('2001:db8:0:1::3')).toBe('card.too-many-attempts');
    expect(await pay('2001:db8:0:2::1')).toBe('success');
  });

  test('counts its attempts in flight: the third can be tried again when the first has ended', async () => {
    const address = newAddress();
    const release = Promise.withResolvers<void>();
    answerCharges(processor, async () => {
      await release.promise;
      return APPROVED;
    });
    const first = [pay(address), pay(address)];
    const third = await payWhenInFlight(address);
    release.resolve();
    expect(await Promise.all(first)).toEqual(['success', 'success']);
    expect(third).toBe('request.rate-limited');
    expect(await pay(address)).toBe('success');
  });

  test('leaves no counter after approved payments', async () => {
    const before = await readCounters(processor);
    answerCharges(processor, APPROVED);
    expect(await pay()).toBe('success');
    expect(await readCounters(processor)).toEqual(before);
  });

  test('is open again when the level has ended', async () => {
    const address = newAddress();
    answerCharges(processor, DECLINED);
    await pay(address);
    processor.clock.advance(HOUR_MS - 1_000);
    await pay(address);
    await pay(address);
    answerCharges(processor, APPROVED);
    expect(await pay(address)).toBe('card.too-many-attempts');
    processor.clock.advance(1_000);
    expect(await pay(address)).toBe('success');
  });
});

/** Pays from this address as soon as two attempts are in flight there. */
async function payWhenInFlight(address: string): Promise<string> {
  for (;;) {
    const counters = await readCounters(processor);
    if (counters.some(({ scope, inFlight }) => scope === 'address' && inFlight === 2)) return pay(address);
  }
}

test('while a site is under attack, the acquirer must verify every payer', async () => {
  const charges = answerCharges(processor, APPROVED);
  await pay();
  expect(charges).toHaveBeenLastCalledWith(expect.objectContaining({ forceVerification: false }), expect.anything());
  await attack();
  charges.mockRestore();
  expect(await pay()).toBe('verificationRequired');
  processor.clock.advance(HOUR_MS);
  expect(await pay()).toBe('success');
});

test('an attack in live mode changes nothing for payments in test mode, nor for another site', async () => {
  await processor.superuser.query(
    `INSERT INTO attacked_sites VALUES ('live', $1, 1001, 3, '2999-01-01', 1, now()), ('test', $1 + 100000, 1001, 3, '2999-01-01', 1, now())`,
    [siteId],
  );
  const charges = answerCharges(processor, APPROVED);
  expect(await pay()).toBe('success');
  expect(charges).toHaveBeenLastCalledWith(expect.objectContaining({ forceVerification: false }), expect.anything());
});

test("a partner's server has no address that counts, and its payers are verified", async () => {
  const merchant = await createMerchant(processor, {}, siteId);
  const partner = await createPartner(processor);
  const payWithPartner = async () => {
    const expiresAt = processor.clock.later(60_000).toISOString();
    const payable = await openInvoice(processor, { ...merchant, expiresAt });
    const card = buildPlainCard({ cardNumber: newCardNumber() });
    return (await partner.pay(payable, { paymentMethod: { card } })).body as { status: string };
  };
  const declines = answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 20; nth++) expect((await payWithPartner()).status).toBe('failed');
  declines.mockRestore();
  expect(await levelEvents()).toHaveLength(1);
  expect((await payWithPartner()).status).toBe('verificationRequired');
  expect((await readCounters(processor)).map(({ scope }) => scope)).not.toContain('address');
});

test('the fiftieth declined card of a partner within an hour refuses its further cards', async () => {
  const merchant = await createMerchant(processor, {}, siteId);
  const partner = await createPartner(processor);
  const payWithPartner = async (payer = partner) => {
    const expiresAt = processor.clock.later(60_000).toISOString();
    const payable = await openInvoice(processor, { ...merchant, expiresAt });
    return payer.pay(payable, { paymentMethod: { card: buildPlainCard({ cardNumber: newCardNumber() }) } });
  };
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 50; nth++) expect((await payWithPartner()).status).toBe(201);
  expect((await payWithPartner()).status).toBe(422);
  expect((await payWithPartner(await createPartner(processor))).status).toBe(201);
});

test('the metrics fall back to 0 when the attack has ended, because a collector would keep their last values', async () => {
  const readTest = async (name: string): Promise<unknown[]> =>
    (await gauges.read(name)).filter(({ attributes }) => attributes['mode'] === 'test').map(({ value }) => value);
  await processor.superuser.query('TRUNCATE attacked_sites');
  await attack();
  expect(await readTest('svc.velocity.sites.attacked')).toEqual([1, 0, 0]);
  expect(await readTest('svc.velocity.site.declined.share')).toEqual([1]);
  processor.clock.advance(24 * HOUR_MS);
  expect(await readTest('svc.velocity.sites.attacked')).toEqual([0, 0, 0]);
  expect(await readTest('svc.velocity.site.declined.share')).toEqual([0]);
});
