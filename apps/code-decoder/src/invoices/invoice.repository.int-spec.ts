/** Writes and reads invoices through the repository, with ids, times and states that requests cannot set. */
import { randomUUID } from 'node:crypto';
import type { PayableState } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { type Decoder, startDecoder } from '../../test/decoder.js';
import { TillCodeRepository } from '../tills/till-code.repository.js';
import type { StoredInvoice } from './invoice.js';
import { type InvoiceOwner, InvoiceRepository } from './invoice.repository.js';

let decoder: Decoder;
let invoices: InvoiceRepository;
let owner: InvoiceOwner;
beforeAll(async () => {
  decoder = await startDecoder();
  invoices = decoder.service.app.get(InvoiceRepository);
});
beforeEach(async () => {
  const { merchantId, siteId } = await decoder.aMerchant();
  owner = { merchantId, siteId, mode: 'test' };
});
afterAll(() => decoder.stop());

async function created(over: Partial<StoredInvoice> = {}): Promise<StoredInvoice> {
  const invoice: StoredInvoice = {
    ...owner,
    invoiceId: randomUUID(),
    siteReference: 'TILL-1',
    externalReference: null,
    fingerprint: 'f'.repeat(64),
    code: newOwnCode(),
    amount: 12345,
    currencyISOCode: 'ZAR',
    lineItems: null,
    origin: 'Karoo POS 4.2',
    originReference: null,
    createdUTCDate: decoder.clock.now(),
    madeAt: decoder.clock.now(),
    expiresAt: decoder.clock.later(3_600_000),
    payableState: 'open',
    payableVersion: 1,
    closedAt: null,
    ...over,
  };
  expect(await invoices.create(invoice)).toBe(true);
  return invoice;
}
const keep = ({ invoiceId }: StoredInvoice, state: PayableState, version: number, at: Date) =>
  invoices.applyPayableChanges([{ payable: { payableId: invoiceId, state, version, tries: 0 }, at: at.toISOString() }]);

test.each(['open', 'reserved'] as const)(
  'an externalReference finds the invoice that is %s, not an older or a newer one that is closed',
  async (payableState) => {
    const externalReference = 'basket-1';
    for (const madeAt of [decoder.clock.now(), decoder.clock.later(5_000)])
      await keep(await created({ externalReference, madeAt }), 'closed', 2, madeAt);
    const { invoiceId } = await created({ externalReference, madeAt: decoder.clock.later(2_000), payableState });
    expect(await invoices.findByExternalReference(owner, externalReference)).toMatchObject({ invoiceId });
  },
);

test('the code of a till finds the greatest id among invoices of the same millisecond', async () => {
  const { code } = await decoder.service.app.get(TillCodeRepository).getOrCreate(owner, 'TILL-1');
  const ids = [randomUUID(), randomUUID(), randomUUID()].toSorted();
  const [least, middle, greatest] = ids as [string, string, string];
  for (const invoiceId of [middle, greatest, least]) await created({ invoiceId });
  expect(await invoices.findByTillCode('test', code)).toMatchObject({ invoiceId: greatest });
});

test.each(['paid', 'refused', 'closed'] as const)('a payable that is %s closes its invoice', async (state) => {
  const invoice = await created();
  await keep(invoice, 'reserved', 2, decoder.clock.now());
  expect(await invoices.findOwned(owner, invoice.invoiceId)).toMatchObject({
    payableState: 'reserved',
    closedAt: null,
  });
  const at = decoder.clock.later(1_000);
  await keep(invoice, state, 3, at);
  expect(await invoices.findOwned(owner, invoice.invoiceId)).toMatchObject({ payableState: state, closedAt: at });
});

test('a report of the same or an older version does not change the closing time', async () => {
  const invoice = await created();
  const closedAt = decoder.clock.later(1_000);
  await keep(invoice, 'closed', 3, closedAt);
  // With this time the invoice would be expired instead of closed.
  for (const version of [3, 2]) await keep(invoice, 'closed', version, invoice.expiresAt);
  expect(await invoices.findOwned(owner, invoice.invoiceId)).toMatchObject({ payableVersion: 3, closedAt });
});
