/** The page of a till's invoice: the view of a phone that opens its code, the visibility of payments, and the charge. */
import { randomUUID } from 'node:crypto';
import {
  type ChargeInvoice,
  ChargeInvoiceV1,
  CheckPaymentsV1,
  ERROR_CATALOGUE,
  type ErrorCode,
  FindPayableV1,
  type HostedPaymentSnapshot,
  InvoiceCreatedV1,
  type InvoiceSource,
  PayableClosedV1,
  type PayableDescriptor,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentReversedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { Commands, type ReplyEnvelope } from '@svc/messaging';
import { anEvent } from '@svc/testing';
import { aPayment, CODES_URL, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { anInvoice, anInvoiceCreated, changeMerchant } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

type Payable = PayableDescriptor<InvoiceSource>;
type Payment = HostedPaymentSnapshot<InvoiceSource>;
const at = ({ source }: Payable): string => `/c/${source.code}`;
const cookieOf = (reference: string) => ({ cookie: `other=1; svc-payment=${reference}` });
const open = (invoice: Payable, headers: Record<string, string> = {}) => gateway.call('GET', at(invoice), { headers });
const stateOf = async (invoice: Payable, headers: Record<string, string> = {}) =>
  (await gateway.call('GET', `${at(invoice)}/state`, { headers })).body as { state: string };
const shownOn = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const press = (invoice: Payable, over: object = {}) =>
  gateway.call('POST', `${at(invoice)}/payments`, {
    payload: { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c', ...over },
  });
const PARTNER = { organisationId: randomUUID(), customer: { id: 'c-1', firstName: 'Thandi', lastName: 'Nkosi' } };
const refused = (code: ErrorCode): ReplyEnvelope => ({
  ok: false,
  code,
  message: ERROR_CATALOGUE[code].message,
  fields: [],
});

/** Responds as payment-processor; returns the received commands. */
async function charges(answer: (command: ChargeInvoice) => ReplyEnvelope): Promise<ChargeInvoice[]> {
  const sent: ChargeInvoice[] = [];
  await gateway.responds(ChargeInvoiceV1, (command) => {
    sent.push(command);
    return answer(command);
  });
  return sent;
}
const paidBy = ({ payable, reference, amount, tipAmount }: ChargeInvoice): ReplyEnvelope => ({
  ok: true,
  reply: aPayment(payable, { reference, amount, tipAmount, version: 3, modifiedUTCDate: gateway.clock.nowISO() }),
});
const tell = (type: { name: string }, payment: Payment): Promise<void> =>
  gateway.deliver(anEvent(type, randomUUID(), payment.payable.version, payment));

test('a phone that opens the code sees merchant, till, line items, amount and form, as for a scanned session', async () => {
  const invoice = await anInvoice(gateway, merchant);
  const { status, headers, text } = await open(invoice);
  expect([status, headers['cache-control'], shownOn(text)]).toEqual([200, 'no-store', 'open']);
  const shown = [
    'Karoo Books',
    'TILL-1',
    'basket-17',
    '2 × Rooibos cappuccino',
    'R 89.50',
    `data-calls-path="${at(invoice)}"`,
  ];
  for (const each of [...shown, `data-session-id="${invoice.payableId}"`, 'TEST: no money moves'])
    expect(text).toContain(each);
  for (const hidden of ['Back to store', 'id="code-view"', 'id="pay-tip"', 'id="pay-amount"'])
    expect(text).not.toContain(hidden);
  expect(await stateOf(invoice)).toEqual({
    state: 'open',
    version: 1,
    coming: { try: 1, triesLeft: '5 of 5 tries left.' },
  });
});

test('a live invoice has no test badge; an invoice with only an amount has a page too', async () => {
  const invoice = await anInvoice(gateway, merchant, { mode: 'live', lineItems: [] });
  const { text } = await open(invoice);
  expect([shownOn(text), text.includes('TEST')]).toEqual(['open', false]);
});

test('the reference of an invoice opens no page, and the session API does not find it', async () => {
  const invoice = await anInvoice(gateway, merchant);
  const { payableId } = invoice;
  await charges(paidBy);
  const { body } = await press(invoice);
  expect(body.state).toBe('succeeded');
  for (const path of [`/pay?sessionId=${payableId}`, `/pay/${payableId}/state`, `/c/${payableId}`])
    expect((await gateway.call('GET', path)).status).toBe(404);
  const { headers } = merchant;
  for (const method of ['GET', 'DELETE'] as const)
    expect((await gateway.call(method, `/api/v3.1/sessions/${payableId}`, { headers })).status).toBe(404);
  expect((await gateway.call('GET', `/api/v3.1/payments?sessionId=${payableId}`, { headers })).status).toBe(404);
  expect((await gateway.call('GET', '/api/v3.1/notifications', { headers })).body).toMatchObject({ notifications: [] });
});

test('paying an invoice charges the payable of code-decoder, and the bank redirects back to the phone', async () => {
  const invoice = await anInvoice(gateway, merchant);
  const sent = await charges(paidBy);
  const reference = randomUUID();
  expect((await press(invoice, { reference })).status).toBe(200);
  expect(sent).toMatchObject([
    { payable: invoice, reference, try: 1, amount: 8_950, tipAmount: 0, payerReturnUrl: `${CODES_URL}${at(invoice)}` },
  ]);
  expect(sent[0]!.payable).toEqual(invoice);
});

describe('the options of payers', () => {
  test('tip and amount are on the form and in the charge; the receipt shows the paid amount', async () => {
    await changeMerchant(gateway, merchant, 1, { features: { tip: { enabled: true }, amount: { editable: true } } });
    const invoice = await anInvoice(gateway, merchant);
    const { text } = await open(invoice);
    for (const field of ['id="pay-amount"', 'id="pay-tip"', 'data-amount-min="100"']) expect(text).toContain(field);
    const sent = await charges(paidBy);
    const reference = randomUUID();
    await press(invoice, { reference, amount: 8_000, tipAmount: 800 });
    expect(sent).toMatchObject([{ amount: 8_000, tipAmount: 800 }]);
    const receipt = (await open(invoice, cookieOf(reference))).text;
    expect([shownOn(receipt), receipt.includes('R 88.00')]).toEqual(['succeeded', true]);
  });

  test('an invoice has the newest features of its own merchant', async () => {
    const other = await gateway.aMerchant();
    await changeMerchant(gateway, other, 1, { features: { tip: { enabled: true } } });
    await changeMerchant(gateway, merchant, 2, { features: {} });
    await changeMerchant(gateway, merchant, 1, { features: { tip: { enabled: true } } });
    expect((await open(await anInvoice(gateway, merchant))).text).not.toContain('id="pay-tip"');
    expect((await open(await anInvoice(gateway, other))).text).toContain('id="pay-tip"');
  });

  test.each([{ amount: 0 }, { amount: 1.5 }, { amount: '100' }, { tipAmount: -1 }, { tipAmount: 100_000_000_001 }])(
    '%j is not an accepted amount',
    async (over) => {
      expect((await press(await anInvoice(gateway, merchant), over)).status).toBe(400);
    },
  );
});

describe('another payer’s payment is not visible', () => {
  const success = (invoice: Payable, over: Partial<Payment> = {}): Payment =>
    aPayment(invoice, { version: 3, modifiedUTCDate: gateway.clock.nowISO(), ...over });

  test('a second phone sees that it is paid; the phone that paid sees the receipt', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const payment = success(invoice);
    await tell(PaymentSucceededV1, payment);
    const mine = (await open(invoice, cookieOf(payment.reference))).text;
    expect([shownOn(mine), mine.includes(payment.paymentReference)]).toEqual(['succeeded', true]);
    for (const headers of [{}, cookieOf(randomUUID()), { cookie: 'svc-payment=x' }]) {
      const { text } = await open(invoice, headers);
      expect([shownOn(text), text.includes(payment.paymentReference)]).toEqual(['already-paid', false]);
      expect(await stateOf(invoice, headers)).toEqual({ state: 'already-paid', version: 3 });
    }
    expect(await stateOf(invoice, cookieOf(payment.reference))).toEqual({ state: 'succeeded', version: 3 });
  });

  test('a browser with several attempts also gets the receipt of the older one; only this browser sees the basket', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const payment = success(invoice);
    await tell(PaymentSucceededV1, payment);
    const others = Array.from({ length: 4 }, () => randomUUID());
    const shown = async (...references: string[]) => {
      const { text } = await open(invoice, cookieOf(references.join('.')));
      return [shownOn(text), text.includes('Rooibos cappuccino')];
    };
    expect(await shown(...others, payment.reference)).toEqual(['succeeded', true]);
    expect(await shown('x', payment.reference)).toEqual(['succeeded', true]);
    expect(await shown(...others, randomUUID(), payment.reference)).toEqual(['already-paid', false]);
    expect(await shown()).toEqual(['already-paid', false]);
  });

  test('a partner’s payment is not visible either, and the name of its customer is not even stored', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const payment = success(invoice, { partner: PARTNER, merchantName: 'Karoo Books', siteReference: 'TILL-1' });
    await tell(PaymentSucceededV1, payment);
    const { text } = await open(invoice, cookieOf(payment.reference));
    expect([shownOn(text), text.includes(payment.paymentReference)]).toEqual(['already-paid', false]);
    const kept = await gateway.dataSource.query<object[]>(
      `SELECT snapshot FROM invoice_payments WHERE invoice_reference = $1`,
      [invoice.payableId],
    );
    expect([kept.length, JSON.stringify(kept).includes('Nkosi')]).toEqual([1, false]);
  });

  test('only its payer sees why a card was declined; others get the form with the next attempt', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const failed = aPayment(invoice, { version: 3, state: 'failed' });
    await tell(PaymentFailedV1, failed);
    const mine = (await open(invoice, cookieOf(failed.reference))).text;
    expect([shownOn(mine), mine.includes('There is not enough money on this card')]).toEqual(['declined', true]);
    expect(mine).not.toContain('was given back to your card');
    const { text } = await open(invoice);
    expect([shownOn(text), /data-try="(\d)"/.exec(text)?.[1]]).toEqual(['open', '2']);
    const coming = { try: 2, triesLeft: '4 of 5 tries left.' };
    expect(await stateOf(invoice)).toEqual({ state: 'open', version: 3, coming });
  });

  test('no payer is sent to the bank of another, and only its payer sees a reversed charge', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const waiting = aPayment(invoice, {
      version: 3,
      state: 'verificationRequired',
      verificationUrl: 'https://bank.example/challenges/1',
      verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
    });
    await tell(PaymentVerificationRequiredV1, { ...waiting, payable: { ...waiting.payable, state: 'open' } });
    expect(shownOn((await open(invoice, cookieOf(waiting.reference))).text)).toBe('verification');
    const { text } = await open(invoice);
    expect([shownOn(text), text.includes('bank.example')]).toEqual(['open', false]);

    const late = { ...waiting, state: 'failed' as const, reversedUTCDate: gateway.clock.nowISO() };
    await tell(PaymentReversedV1, late);
    const told = async (headers: Record<string, string>) =>
      (await open(invoice, headers)).text.includes('was given back to your card');
    expect([await told(cookieOf(waiting.reference)), await told({})]).toEqual([true, false]);
  });
});

describe('an invoice that can no longer be paid has a page that says so', () => {
  test.each([
    ['closed', 'cancelled'],
    ['refused', 'refused'],
  ] as const)('an invoice that is %s has such a page', async (state, shown) => {
    const invoice = await anInvoice(gateway, merchant);
    const other = await anInvoice(gateway, merchant);
    const { payableId } = invoice;
    await gateway.deliver(anEvent(PayableClosedV1, payableId, 2, { payableId, state, version: 2, tries: 0 }));
    const { status, headers, text } = await open(invoice);
    expect([status, headers['content-type'], shownOn(text)]).toEqual([200, 'text/html; charset=utf-8', shown]);
    expect(text).not.toContain('Back to store');
    expect(shownOn((await open(other)).text)).toBe('open');
  });

  test('an invoice expires to the millisecond, but not during a payment', async () => {
    const [invoice, paying] = [await anInvoice(gateway, merchant), await anInvoice(gateway, merchant)];
    await tell(
      PaymentProcessingV1,
      aPayment(paying, {
        version: 2,
        state: 'processing',
        modifiedUTCDate: gateway.clock.later(3_600_000).toISOString(),
      }),
    );
    gateway.clock.advance(3_599_999);
    expect(shownOn((await open(invoice)).text)).toBe('open');
    gateway.clock.advance(1);
    expect([shownOn((await open(invoice)).text), shownOn((await open(paying)).text)]).toEqual([
      'expired',
      'processing',
    ]);
  });

  test('an invoice of an unknown merchant has no page', async () => {
    const invoice = await anInvoice(gateway, { merchantId: merchant.merchantId, siteId: 999_999 });
    expect((await open(invoice)).status).toBe(404);
  });
});

describe('the attempts of the page', () => {
  const fail = async (invoice: Payable, version: number, over: Partial<Payment> = {}) =>
    tell(PaymentFailedV1, aPayment(invoice, { version, tries: version - 2, state: 'failed', ...over }));

  test('are limited to five, independent of partners; then no charge is sent', async () => {
    const invoice = await anInvoice(gateway, merchant);
    for (let version = 3; version < 7; version++) await fail(invoice, version);
    for (let version = 7; version < 10; version++) await fail(invoice, version, { partner: PARTNER });
    expect((await stateOf(invoice)).state).toBe('open');
    const sent = await charges(() => refused('payable.closed'));
    await fail(invoice, 10);
    expect((await stateOf(invoice)).state).toBe('refused');
    expect((await press(invoice, { try: 9 })).status).toBe(409);
    expect(sent).toEqual([]);
  });

  test('count failures, but not a payer in verification', async () => {
    const invoice = await anInvoice(gateway, merchant);
    for (let version = 3; version < 7; version++) await fail(invoice, version);
    const waiting = aPayment(invoice, { version: 7, tries: 5, state: 'verificationRequired' });
    await tell(PaymentVerificationRequiredV1, { ...waiting, payable: { ...waiting.payable, state: 'open' } });
    expect((await stateOf(invoice)).state).toBe('open');
  });

  test('are limited to ten payers in verification; those of partners do not count', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const wait = async (version: number, over: Partial<Payment> = {}) => {
      const waiting = aPayment(invoice, { version, tries: version - 2, state: 'verificationRequired', ...over });
      await tell(PaymentVerificationRequiredV1, { ...waiting, payable: { ...waiting.payable, state: 'open' } });
    };
    for (let version = 3; version < 12; version++) await wait(version);
    for (let version = 12; version < 15; version++) await wait(version, { partner: PARTNER });
    expect((await stateOf(invoice)).state).toBe('open');
    const sent = await charges(paidBy);
    await wait(15);
    expect((await stateOf(invoice)).state).toBe('refused');
    expect((await press(invoice, { try: 14 })).status).toBe(409);
    expect(sent).toEqual([]);
  });

  test('allow a retry of the last attempt', async () => {
    const invoice = await anInvoice(gateway, merchant);
    for (let version = 3; version < 7; version++) await fail(invoice, version);
    const reference = randomUUID();
    await fail(invoice, 7, { reference });
    const sent = await charges(paidBy);
    await press(invoice, { reference, try: 5 });
    expect(sent).toHaveLength(1);
  });

  test('never exceed the attempts of the invoice', async () => {
    const invoice = await anInvoice(gateway, merchant, { triesMax: 2 });
    await fail(invoice, 3, { partner: PARTNER });
    expect((await stateOf(invoice)).state).toBe('open');
    await fail(invoice, 4, { partner: PARTNER });
    expect((await stateOf(invoice)).state).toBe('refused');
  });
});

describe('late or reordered events', () => {
  test('a payment that arrives before its invoice', async () => {
    const created = anInvoiceCreated(gateway, merchant);
    await tell(PaymentSucceededV1, aPayment(created.payable, { version: 3 }));
    await gateway.deliver(anEvent(InvoiceCreatedV1, created.payable.payableId, 1, created));
    expect((await stateOf(created.payable)).state).toBe('already-paid');
  });

  test('an outdated event changes nothing', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const paid = aPayment(invoice, { version: 3 });
    await tell(PaymentSucceededV1, paid);
    await tell(PaymentProcessingV1, {
      ...paid,
      state: 'processing',
      payable: { ...paid.payable, state: 'reserved', version: 2 },
    });
    const { payableId } = invoice;
    await gateway.deliver(anEvent(PayableClosedV1, payableId, 2, { payableId, state: 'closed', version: 2, tries: 0 }));
    expect(await stateOf(invoice)).toEqual({ state: 'already-paid', version: 3 });
  });

  test('a close that arrives before the invoice: paying is rejected, and then the page shows that it is closed', async () => {
    const invoice = await anInvoice(gateway, merchant);
    const { payableId } = invoice;
    await charges(() => refused('payable.closed'));
    await gateway.checks(() => ({ ok: true, reply: [] }));
    await gateway.responds(FindPayableV1, () => ({
      ok: true,
      reply: { payable: { payableId, state: 'closed', version: 2, tries: 0 } },
    }));
    expect((await press(invoice)).status).toBe(409);
    expect((await stateOf(invoice)).state).toBe('cancelled');
  });

  test('after a rejection a payer waits at most two seconds for each query of the reason', async () => {
    const invoice = await anInvoice(gateway, merchant);
    await charges(() => refused('payable.paid'));
    await gateway.checks(() => ({ ok: true, reply: [] }));
    await gateway.responds(FindPayableV1, () => ({ ok: true, reply: {} }));
    const asked = jest.spyOn(gateway.service.app.get(Commands), 'request');
    expect((await press(invoice)).status).toBe(409);
    const waits = asked.mock.calls.map(([{ name }, , milliseconds]) => [name, milliseconds]);
    asked.mockRestore();
    expect(waits.slice(1)).toEqual([
      [CheckPaymentsV1.name, 2_000],
      [FindPayableV1.name, 2_000],
    ]);
  });

  test('the same for an invoice that a partner has paid; without a reply paying is rejected too', async () => {
    const invoice = await anInvoice(gateway, merchant);
    await charges(() => refused('payable.paid'));
    await gateway.checks(() => refused('service.not-ready'));
    expect((await press(invoice)).status).toBe(409);
    expect((await stateOf(invoice)).state).toBe('open');
    await gateway.checks(() => ({ ok: true, reply: [aPayment(invoice, { version: 3, partner: PARTNER })] }));
    await gateway.responds(FindPayableV1, () => ({ ok: true, reply: {} }));
    expect((await press(invoice)).status).toBe(409);
    expect((await stateOf(invoice)).state).toBe('already-paid');
  });
});
