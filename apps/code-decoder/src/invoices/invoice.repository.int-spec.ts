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
  const { merchantId, siteId } = await decoder.createMerchant();
  owner = { merchantId, siteId, mode: 'test' };
});
afterAll(() => decoder.stop());

/** Stores an invoice with these values. */
async function storeInvoice(values: Partial<StoredInvoice> = {}): Promise<StoredInvoice> {
  const invoice: StoredInvoice = {
    ...owner,
    invoiceId: randomUUID(),
    siteReference: 'TILL-1',
    externalReference: null,
    invoiceFingerprint: 'f'.repeat(64),
    code: newOwnCode(),
    amount: 12345,
    currencyISOCode: 'ZAR',
    lineItems: null,
    origin: 'Karoo POS 4.2',
    originReference: null,
    createdUTCDate: decoder.clock.now(),
    createdAt: decoder.clock.now(),
    expiresAt: decoder.clock.later(3_600_000),
    payableState: 'open',
    payableVersion: 1,
    closedAt: null,
    requestedBy: null,
    ...values,
  };
  expect(await invoices.create(invoice)).toBe(true);
  return invoice;
}
/** Stores the state of the invoice's payable, as reported by payment-processor. */
const applyPayableState = ({ invoiceId }: StoredInvoice, state: PayableState, version: number, at: Date) =>
  invoices.applyPayableChanges([
    { payable: { payableId: invoiceId, state, version, paymentCount: 0 }, at: at.toISOString() },
  ]);

test.each(['open', 'reserved'] as const)(
  'findByExternalReference returns the invoice that is %s, not an older or a newer closed invoice',
  async (payableState) => {
    const externalReference = 'basket-1';
    for (const createdAt of [decoder.clock.now(), decoder.clock.later(5_000)])
      await applyPayableState(await storeInvoice({ externalReference, createdAt }), 'closed', 2, createdAt);
    const { invoiceId } = await storeInvoice({
      externalReference,
      createdAt: decoder.clock.later(2_000),
      payableState,
    });
    expect(await invoices.findByExternalReference(owner, externalReference)).toMatchObject({ invoiceId });
  },
);

test('findByTillCode returns the invoice with the greatest id among those created in the same millisecond', async () => {
  const { code } = await decoder.service.app.get(TillCodeRepository).getOrCreate(owner, 'TILL-1');
  const ids = [randomUUID(), randomUUID(), randomUUID()].toSorted();
  const [least, middle, greatest] = ids as [string, string, string];
  for (const invoiceId of [middle, greatest, least]) await storeInvoice({ invoiceId });
  expect(await invoices.findByTillCode('test', code)).toMatchObject({ invoiceId: greatest });
});

test.each(['paid', 'refused', 'closed'] as const)('a payable that is %s closes its invoice', async (state) => {
  const invoice = await storeInvoice();
  await applyPayableState(invoice, 'reserved', 2, decoder.clock.now());
  expect(await invoices.findOwned(owner, invoice.invoiceId)).toMatchObject({
    payableState: 'reserved',
    closedAt: null,
  });
  const at = decoder.clock.later(1_000);
  await applyPayableState(invoice, state, 3, at);
  expect(await invoices.findOwned(owner, invoice.invoiceId)).toMatchObject({ payableState: state, closedAt: at });
});

test('a payable state of the same or an older version does not change the closing time', async () => {
  const invoice = await storeInvoice();
  const closedAt = decoder.clock.later(1_000);
  await applyPayableState(invoice, 'closed', 3, closedAt);
  // If this time were stored, the invoice would be expired instead of closed.
  for (const version of [3, 2]) await applyPayableState(invoice, 'closed', version, invoice.expiresAt);
  expect(await invoices.findOwned(owner, invoice.invoiceId)).toMatchObject({ payableVersion: 3, closedAt });
});
