/** The limits of cards and ranges for partners' payments, stored cards, and payments whose payer opens our page (P11). */
import type { PayableDescriptor } from '@svc/contracts';
import {
  buildPlainCard,
  createMerchant,
  createPartner,
  openInvoice,
  type PartnerUnderTest,
} from '../../test/partner.js';
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

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
  merchant = await createMerchant(processor);
});
afterAll(() => processor.stop());
beforeEach(async () => {
  partner = await createPartner(processor);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.superuser.query('TRUNCATE velocity_counters');
});

const REFUSAL = {
  status: 422,
  body: { code: 'card.too-many-attempts', errors: [{ errorReference: '18' }] },
};
const openPayable = (): Promise<PayableDescriptor> =>
  openInvoice(processor, { ...merchant, expiresAt: processor.clock.later(60_000).toISOString() });

async function pay(card: Record<string, unknown>, payer: Pick<PartnerUnderTest, 'pay'> = partner) {
  return payer.pay(await openPayable(), { paymentMethod: { card } });
}

test('the fifth payment with a card after four declines is a 422 with errorReference 18, and does not tell the limit', async () => {
  const card = buildPlainCard({ cardNumber: newCardNumber() });
  const charges = answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 4; nth++) expect((await pay(card)).body).toMatchObject({ status: 'failed' });
  const payable = await openPayable();
  const { status, body } = await partner.pay(payable, { paymentMethod: { card } });
  expect({ status, body }).toMatchObject(REFUSAL);
  expect(JSON.stringify(body)).not.toMatch(/decline|limit|range|address/i);
  expect(charges).toHaveBeenCalledTimes(4);
  expect(await processor.findPayable(payable.payableId)).toMatchObject({ payable: { state: 'open', paymentCount: 0 } });
});

test('declines on the page count for a partner, and a declined reference can be used again after a refusal', async () => {
  const cardNumber = newCardNumber();
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 4; nth++) await payWith(processor, cardNumber);
  const other = await createPartner(processor);
  expect(await pay(buildPlainCard({ cardNumber }), other)).toMatchObject(REFUSAL);
});

test('an approved payment leaves no counter', async () => {
  answerCharges(processor, APPROVED);
  expect((await pay(buildPlainCard({ cardNumber: newCardNumber() }))).status).toBe(201);
  expect(await readCounters(processor)).toEqual([]);
});

test('a stored card has the counter of its number', async () => {
  const cardNumber = newCardNumber();
  const { body } = await partner.call('POST', '/v1/cards', { ...buildPlainCard({ cardNumber }), cvv: undefined });
  const { token } = body as { token: string };
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 2; nth++) expect((await pay({ token })).status).toBe(201);
  for (let nth = 1; nth <= 2; nth++) expect(await payWith(processor, cardNumber)).toBe('failed');
  expect(await pay({ token })).toMatchObject(REFUSAL);
  expect(await payWith(processor, cardNumber)).toBe('card.too-many-attempts');
});

test('ten declined cards of one range close the range for this partner, and not for another', async () => {
  const cardOf = (range: string) => buildPlainCard({ cardNumber: newCardNumber(range) });
  const charges = answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 10; nth++) expect((await pay(cardOf('52000001'))).status).toBe(201);
  expect(await pay(cardOf('52000001'))).toMatchObject(REFUSAL);
  expect(charges).toHaveBeenCalledTimes(10);
  expect((await pay(cardOf('52000002'))).status).toBe(201);
  expect((await pay(cardOf('52000001'), await createPartner(processor))).status).toBe(201);
  processor.clock.advance(3_600_000);
  partner = await createPartner(processor, 'test', partner.organisationId);
  expect((await pay(cardOf('52000001'))).status).toBe(201);
});

test('a payment that waits only for others in flight is a 409 that says so, and is accepted when they have ended', async () => {
  const cardOf = () => buildPlainCard({ cardNumber: newCardNumber('52000003') });
  const end = Promise.withResolvers<typeof APPROVED>();
  const allCharged = Promise.withResolvers<void>();
  let charges = 0;
  answerCharges(processor, () => {
    if (++charges === 10) allCharged.resolve();
    return end.promise;
  });
  const inFlight = Array.from({ length: 10 }, () => pay(cardOf()));
  await allCharged.promise;
  const [payable, card] = [await openPayable(), cardOf()];
  expect(await partner.pay(payable, { paymentMethod: { card } })).toMatchObject({
    status: 409,
    body: {
      code: 'payment.in-progress',
      errors: [
        {
          errorReference: '23',
          message: 'Other payments are in progress, and this one was not accepted. Nothing was charged. Send it again.',
        },
      ],
    },
  });
  end.resolve(APPROVED);
  for (const { status } of await Promise.all(inFlight)) expect(status).toBe(201);
  expect((await partner.pay(payable, { paymentMethod: { card } })).status).toBe(201);
});

test('approvals of a range are regular trade: its limit is as many declines as approvals', async () => {
  const cardOf = () => buildPlainCard({ cardNumber: newCardNumber('53000001') });
  const approvals = answerCharges(processor, APPROVED);
  for (let nth = 1; nth <= 12; nth++) await pay(cardOf());
  approvals.mockRestore();
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 12; nth++) expect((await pay(cardOf())).status).toBe(201);
  expect(await pay(cardOf())).toMatchObject(REFUSAL);
});

test('a payment whose payer opens our page is refused there, and fails', async () => {
  const simulated = processor.service.app.get(Acquirers).get('simulated');
  jest.replaceProperty(simulated, 'needsBrowser', true);
  const cardNumber = newCardNumber();
  const { body } = await pay(buildPlainCard({ cardNumber }));
  const { verificationUrl, paymentReference } = body as { verificationUrl: string; paymentReference: string };
  const { pathname, search } = new URL(verificationUrl);
  answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= 4; nth++) await payWith(processor, cardNumber);
  expect(await pay(buildPlainCard({ cardNumber }))).toMatchObject(REFUSAL);
  const charges = answerCharges(processor, APPROVED);
  await processor.service.app.inject({ method: 'POST', url: pathname + search, payload: {} });
  expect(charges).not.toHaveBeenCalled();
  const [payment] = await processor.dataSource.query<{ state: string; errors: { errorReference: string }[] }[]>(
    `SELECT state, errors FROM payments WHERE payment_reference = $1`,
    [paymentReference],
  );
  expect(payment).toMatchObject({ state: 'failed', errors: [{ errorReference: '18' }] });
});
