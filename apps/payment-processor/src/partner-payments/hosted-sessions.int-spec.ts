/** Payments of hosted sessions by a partner. */
import { SessionCreatedV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, type PartnerUnderTest } from '../../test/partner.js';
import { CODES_URL, type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor);
});
afterAll(() => processor.stop());

test('a hosted session must be paid in full, even if the merchant allows edited amounts and tips', async () => {
  merchant = await createMerchant(processor, { features: { amount: { editable: true }, tip: { enabled: true } } });
  const payable = buildPayable({ ...merchant });
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  const [partialPayment, paymentWithTip] = [
    await partner.pay(payable, { amount: 1 }),
    await partner.pay(payable, { tipAmount: 1 }),
  ];
  expect([partialPayment.status, partialPayment.body.errors[0].errorReference]).toEqual([422, '22']);
  expect([paymentWithTip.status, paymentWithTip.body.errors[0].field]).toEqual([422, 'tipAmount']);
  const payments = await processor.dataSource.query<unknown[]>(`SELECT 1 FROM payments WHERE payable_id = $1`, [
    payable.payableId,
  ]);
  expect(payments).toEqual([]);
  expect((await partner.pay(payable)).status).toBe(201);
});

test('a hosted session can be paid with the code that its page shows', async () => {
  const code = newOwnCode();
  const payable = buildPayable({ ...merchant });
  await processor.deliver(
    anEvent(SessionCreatedV1, payable.payableId, 1, { payable: { ...payable, source: { ...payable.source, code } } }),
  );
  const codeRequest = { invoiceReference: undefined, code: Buffer.from(`${CODES_URL}/c/${code}`).toString('base64') };
  const { status, body } = await partner.pay(payable, codeRequest);
  expect([status, body.invoiceReference]).toEqual([201, payable.payableId]);
  expect((await partner.pay(payable, codeRequest)).status).toBe(409);
});

test('a partner can also pay a hosted session, and the response has the session’s references', async () => {
  const payable = buildPayable({ ...merchant });
  // The merchant's other payable is closed, which must have no effect on this payable.
  await processor.closePayable(buildPayable({ ...merchant }));
  await processor.pay(payable, { card: CARDS.declined });
  const { status, body } = await partner.pay(payable);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    siteReference: 'WEB',
    invoiceReference: payable.payableId,
    invoiceExternalReference: 'order-1',
    status: 'success',
  });
  await expect(processor.pay(payable, { paymentNumber: 3 })).rejects.toMatchObject({ code: 'payable.paid' });
});
