/** The page of a till's invoice, which a payer's phone opens by scanning a code. */
import { randomUUID } from 'node:crypto';
import {
  type ChargeInvoice,
  ChargeInvoiceV1,
  CheckPaymentsV1,
  ERROR_CATALOGUE,
  type ErrorCode,
  FindPayableV1,
  InvoiceCreatedV1,
  type InvoiceSource,
  PayableClosedV1,
  type PayableDescriptor,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentReversedV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { Commands, type ReplyEnvelope } from '@svc/messaging';
import { anEvent, inProgress } from '@svc/testing';
import { buildPayment, CODES_URL, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { buildInvoiceCreated, changeMerchant, createInvoice } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

type Payable = PayableDescriptor<InvoiceSource>;
type Payment = PaymentSnapshot<InvoiceSource>;
const callsPath = ({ source }: Payable): string => `/c/${source.code}`;
const paymentCookie = (reference: string) => ({ cookie: `other=1; svc-payment=${reference}` });
const openPage = (invoice: Payable, headers: Record<string, string> = {}) =>
  gateway.call('GET', callsPath(invoice), { headers });
const readState = async (invoice: Payable, headers: Record<string, string> = {}) =>
  (await gateway.call('GET', `${callsPath(invoice)}/state`, { headers })).body as { state: string };
const pageState = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const pay = (invoice: Payable, overrides: object = {}) =>
  gateway.call('POST', `${callsPath(invoice)}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', ...overrides },
  });
const PARTNER = { organisationId: randomUUID(), customer: { id: 'c-1', firstName: 'Thandi', lastName: 'Nkosi' } };
const errorReply = (code: ErrorCode): ReplyEnvelope => {
  const { message } = ERROR_CATALOGUE[code];
  return { ok: false, code, message, fields: [] };
};

/** Simulates payment-processor. Returns the list of the received ChargeInvoice commands. */
async function recordCharges(createReply: (command: ChargeInvoice) => ReplyEnvelope): Promise<ChargeInvoice[]> {
  const commands: ChargeInvoice[] = [];
  await gateway.respondTo(ChargeInvoiceV1, (command) => {
    commands.push(command);
    return createReply(command);
  });
  return commands;
}
const successReply = ({ payable, reference, amount, tipAmount }: ChargeInvoice): ReplyEnvelope => ({
  ok: true,
  reply: buildPayment(payable, { reference, amount, tipAmount, version: 3, modifiedUTCDate: gateway.clock.nowISO() }),
});
const deliverPayment = (type: { name: string }, payment: Payment): Promise<void> =>
  gateway.deliver(anEvent(type, randomUUID(), payment.payable.version, payment));
const deliverProgress = (payment: Payment): Promise<void> =>
  gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), payment.payable.version, inProgress(payment)));
/** While a payment waits for verification, its payable is open. */
const deliverVerification = (payment: Payment): Promise<void> =>
  deliverPayment(PaymentVerificationRequiredV1, { ...payment, payable: { ...payment.payable, state: 'open' } });

test('the page shows merchant, till, line items, amount and form, and the state of the invoice is open', async () => {
  const invoice = await createInvoice(gateway, merchant);
  const { status, headers, text } = await openPage(invoice);
  expect([status, headers['cache-control'], pageState(text)]).toEqual([200, 'no-store', 'open']);
  const shownTexts = [
    'Karoo Books',
    'Web shop',
    'basket-17',
    'Rooibos cappuccino',
    '2 × ',
    'R 89.50',
    `data-calls-path="${callsPath(invoice)}"`,
  ];
  for (const shown of [...shownTexts, `data-session-id="${invoice.payableId}"`, 'TEST: no money moves'])
    expect(text).toContain(shown);
  for (const hidden of ['Back to store', 'id="code-view"', 'id="pay-tip"', 'id="pay-amount"'])
    expect(text).not.toContain(hidden);
  expect(await readState(invoice)).toEqual({
    state: 'open',
    version: 1,
    nextPayment: { paymentNumber: 1, paymentsLeft: '' },
  });
});

test('the page of a live invoice without line items shows the form without a test badge', async () => {
  const invoice = await createInvoice(gateway, merchant, { mode: 'live', lineItems: [] });
  const { text } = await openPage(invoice);
  expect([pageState(text), text.includes('TEST')]).toEqual(['open', false]);
});

test('the reference of an invoice does not open a page, and the API for sessions does not find the invoice', async () => {
  const invoice = await createInvoice(gateway, merchant);
  const { payableId } = invoice;
  await recordCharges(successReply);
  const { body } = await pay(invoice);
  expect(body.state).toBe('succeeded');
  for (const path of [`/pay?sessionId=${payableId}`, `/pay/${payableId}/state`, `/c/${payableId}`])
    expect((await gateway.call('GET', path)).status).toBe(404);
  const { headers } = merchant;
  for (const method of ['GET', 'DELETE'] as const)
    expect((await gateway.call(method, `/api/v3.1/sessions/${payableId}`, { headers })).status).toBe(404);
  expect((await gateway.call('GET', `/api/v3.1/payments?sessionId=${payableId}`, { headers })).status).toBe(404);
  expect((await gateway.call('GET', '/api/v3.1/notifications', { headers })).body).toMatchObject({ notifications: [] });
});

test('paying an invoice sends a command with the payable from code-decoder and the URL of the page for the bank’s redirect', async () => {
  const invoice = await createInvoice(gateway, merchant);
  const commands = await recordCharges(successReply);
  const reference = randomUUID();
  expect((await pay(invoice, { reference })).status).toBe(200);
  const payerReturnUrl = `${CODES_URL}${callsPath(invoice)}`;
  expect(commands).toMatchObject([{ reference, paymentNumber: 1, amount: 8_950, tipAmount: 0, payerReturnUrl }]);
  expect(commands[0]!.payable).toEqual(invoice);
});

describe('the options of the merchant', () => {
  test('let the payer choose tip and amount on the form; the charge contains both, and the receipt their sum', async () => {
    await changeMerchant(gateway, merchant, 1, { features: { tip: { enabled: true }, amount: { editable: true } } });
    const invoice = await createInvoice(gateway, merchant);
    const { text } = await openPage(invoice);
    for (const field of [
      'id="pay-amount"',
      'id="pay-tip"',
      'data-amount-min="100"',
      'data-amount-max="89500"',
      'data-tip-max="8950"',
    ])
      expect(text).toContain(field);
    const commands = await recordCharges(successReply);
    const reference = randomUUID();
    await pay(invoice, { reference, amount: 8_000, tipAmount: 800 });
    expect(commands).toMatchObject([{ amount: 8_000, tipAmount: 800 }]);
    const receipt = (await openPage(invoice, paymentCookie(reference))).text;
    expect([pageState(receipt), receipt.includes('R 88.00')]).toEqual(['succeeded', true]);
  });

  test('have the maximum of the merchant, and again the default after the merchant has removed its maximum', async () => {
    const features = { amount: { editable: true } };
    const invoice = await createInvoice(gateway, merchant);
    await changeMerchant(gateway, merchant, 1, { features, maximumAmount: 20_000 });
    expect((await openPage(invoice)).text).toContain('data-amount-max="20000" data-tip-max="0"');
    await changeMerchant(gateway, merchant, 2, { features });
    expect((await openPage(invoice)).text).toContain('data-amount-max="89500"');
  });

  test('come from the newest event of the merchant who owns the invoice', async () => {
    const otherMerchant = await gateway.createMerchant();
    await changeMerchant(gateway, otherMerchant, 1, { features: { tip: { enabled: true } } });
    await changeMerchant(gateway, merchant, 2, { features: {} });
    await changeMerchant(gateway, merchant, 1, { features: { tip: { enabled: true } } });
    expect((await openPage(await createInvoice(gateway, merchant))).text).not.toContain('id="pay-tip"');
    expect((await openPage(await createInvoice(gateway, otherMerchant))).text).toContain('id="pay-tip"');
  });
});

describe('the payment of another payer', () => {
  const success = (invoice: Payable, overrides: Partial<Payment> = {}): Payment =>
    buildPayment(invoice, { version: 3, modifiedUTCDate: gateway.clock.nowISO(), ...overrides });

  test('is shown as already-paid without its reference; only the browser that paid shows the receipt', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const payment = success(invoice);
    await deliverPayment(PaymentSucceededV1, payment);
    const ownPage = (await openPage(invoice, paymentCookie(payment.reference))).text;
    expect([pageState(ownPage), ownPage.includes(payment.paymentReference)]).toEqual(['succeeded', true]);
    for (const headers of [{}, paymentCookie(randomUUID()), { cookie: 'svc-payment=x' }]) {
      const { text } = await openPage(invoice, headers);
      expect([pageState(text), text.includes(payment.paymentReference)]).toEqual(['already-paid', false]);
      expect(await readState(invoice, headers)).toEqual({ state: 'already-paid', version: 3 });
    }
    expect(await readState(invoice, paymentCookie(payment.reference))).toEqual({ state: 'succeeded', version: 3 });
  });

  test('is shown as a receipt with the basket only if its reference is among the first five references of the cookie', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const payment = success(invoice);
    await deliverPayment(PaymentSucceededV1, payment);
    const otherReferences = Array.from({ length: 4 }, () => randomUUID());
    const openWith = async (...references: string[]) => {
      const { text } = await openPage(invoice, paymentCookie(references.join('.')));
      return [pageState(text), text.includes('Rooibos cappuccino')];
    };
    expect(await openWith(...otherReferences, payment.reference)).toEqual(['succeeded', true]);
    expect(await openWith('not-a-uuid', payment.reference)).toEqual(['succeeded', true]);
    expect(await openWith(...otherReferences, randomUUID(), payment.reference)).toEqual(['already-paid', false]);
    expect(await openWith()).toEqual(['already-paid', false]);
  });

  test('is shown as already-paid if it came through a partner, and the name of the partner’s customer is not stored', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const payment = success(invoice, { partner: PARTNER, merchantName: 'Karoo Books', siteReference: 'TILL-1' });
    await deliverPayment(PaymentSucceededV1, payment);
    const { text } = await openPage(invoice, paymentCookie(payment.reference));
    expect([pageState(text), text.includes(payment.paymentReference)]).toEqual(['already-paid', false]);
    const storedSnapshots = await gateway.dataSource.query<object[]>(
      `SELECT snapshot FROM invoice_payments WHERE invoice_reference = $1`,
      [invoice.payableId],
    );
    expect([storedSnapshots.length, JSON.stringify(storedSnapshots).includes('Nkosi')]).toEqual([1, false]);
  });

  test('does not reveal why its card was declined: the page shows the form with the next payment', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const failed = buildPayment(invoice, { version: 3, state: 'failed' });
    await deliverPayment(PaymentFailedV1, failed);
    const ownPage = (await openPage(invoice, paymentCookie(failed.reference))).text;
    expect(pageState(ownPage)).toBe('declined');
    expect(ownPage).toContain('There is not enough money on this card');
    expect(ownPage).not.toContain('was refunded to your card');
    const { text } = await openPage(invoice);
    expect([pageState(text), /data-payment-number="(\d)"/.exec(text)?.[1]]).toEqual(['open', '2']);
    const nextPayment = { paymentNumber: 2, paymentsLeft: '' };
    expect(await readState(invoice)).toEqual({ state: 'open', version: 3, nextPayment });
  });

  test('reveals neither the link to its bank nor the reversal of its charge', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const inVerification = buildPayment(invoice, {
      version: 3,
      state: 'verificationRequired',
      verificationUrl: 'https://bank.example/challenges/1',
      verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
    });
    await deliverVerification(inVerification);
    expect(pageState((await openPage(invoice, paymentCookie(inVerification.reference))).text)).toBe('verification');
    const { text } = await openPage(invoice);
    expect([pageState(text), text.includes('bank.example')]).toEqual(['open', false]);

    const late = { ...inVerification, state: 'failed' as const, reversedUTCDate: gateway.clock.nowISO() };
    await deliverPayment(PaymentReversedV1, late);
    const showsReversal = async (headers: Record<string, string>) =>
      (await openPage(invoice, headers)).text.includes('was refunded to your card');
    expect(await showsReversal(paymentCookie(inVerification.reference))).toBe(true);
    expect(await showsReversal({})).toBe(false);
  });
});

describe('the page of an invoice that cannot be paid', () => {
  test.each([
    ['closed', 'cancelled'],
    ['refused', 'refused'],
  ] as const)('has for a %s payable the state %s', async (state, expectedPage) => {
    const invoice = await createInvoice(gateway, merchant);
    const otherInvoice = await createInvoice(gateway, merchant);
    const { payableId } = invoice;
    await gateway.deliver(anEvent(PayableClosedV1, payableId, 2, { payableId, state, version: 2, paymentCount: 0 }));
    const { status, headers, text } = await openPage(invoice);
    expect([status, headers['content-type'], pageState(text)]).toEqual([200, 'text/html; charset=utf-8', expectedPage]);
    expect(text).not.toContain('Back to store');
    expect(pageState((await openPage(otherInvoice)).text)).toBe('open');
  });

  test('has the state expired from the exact millisecond of expiry, but processing while a payment is in progress', async () => {
    const [invoice, paying] = [await createInvoice(gateway, merchant), await createInvoice(gateway, merchant)];
    const modifiedUTCDate = gateway.clock.later(3_600_000).toISOString();
    const processing = buildPayment(paying, { version: 2, state: 'processing', modifiedUTCDate });
    await deliverProgress(processing);
    gateway.clock.advance(3_599_999);
    expect(pageState((await openPage(invoice)).text)).toBe('open');
    gateway.clock.advance(1);
    expect(pageState((await openPage(invoice)).text)).toBe('expired');
    expect(pageState((await openPage(paying)).text)).toBe('processing');
  });

  test('is a 404 if the merchant is unknown', async () => {
    const invoice = await createInvoice(gateway, { merchantId: merchant.merchantId, siteId: 999_999 });
    expect((await openPage(invoice)).status).toBe(404);
  });
});

describe('if events arrive late or in another order', () => {
  test('a payment that arrives before its invoice is shown with the invoice', async () => {
    const created = buildInvoiceCreated(gateway, merchant);
    await deliverPayment(PaymentSucceededV1, buildPayment(created.payable, { version: 3 }));
    await gateway.deliver(anEvent(InvoiceCreatedV1, created.payable.payableId, 1, created));
    expect((await readState(created.payable)).state).toBe('already-paid');
  });

  test('an event with an older version changes nothing', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const paid = buildPayment(invoice, { version: 3 });
    await deliverPayment(PaymentSucceededV1, paid);
    await deliverProgress({ ...paid, payable: { ...paid.payable, state: 'reserved', version: 2 } });
    const { payableId } = invoice;
    await gateway.deliver(
      anEvent(PayableClosedV1, payableId, 2, { payableId, state: 'closed', version: 2, paymentCount: 0 }),
    );
    expect(await readState(invoice)).toEqual({ state: 'already-paid', version: 3 });
  });

  test('the page of an invoice that is already closed at payment-processor is cancelled after a rejected pay request', async () => {
    const invoice = await createInvoice(gateway, merchant);
    const { payableId } = invoice;
    await recordCharges(() => errorReply('payable.closed'));
    await gateway.respondToChecks(() => ({ ok: true, reply: [] }));
    const payable = { payableId, state: 'closed', version: 2, paymentCount: 0 };
    await gateway.respondTo(FindPayableV1, () => ({ ok: true, reply: { payable } }));
    expect((await pay(invoice)).status).toBe(409);
    expect((await readState(invoice)).state).toBe('cancelled');
  });

  test('after a rejection the gateway queries the reason with a timeout of two seconds for each query', async () => {
    const invoice = await createInvoice(gateway, merchant);
    await recordCharges(() => errorReply('payable.paid'));
    await gateway.respondToChecks(() => ({ ok: true, reply: [] }));
    await gateway.respondTo(FindPayableV1, () => ({ ok: true, reply: {} }));
    const requestSpy = jest.spyOn(gateway.service.app.get(Commands), 'request');
    expect((await pay(invoice)).status).toBe(409);
    const timeouts = requestSpy.mock.calls.map(([{ name }, , milliseconds]) => [name, milliseconds]);
    requestSpy.mockRestore();
    expect(timeouts.slice(1)).toEqual([
      [CheckPaymentsV1.name, 2_000],
      [FindPayableV1.name, 2_000],
    ]);
  });

  test('the page of an invoice that a partner has paid is already-paid after a rejected pay request', async () => {
    const invoice = await createInvoice(gateway, merchant);
    await recordCharges(() => errorReply('payable.paid'));
    await gateway.respondToChecks(() => errorReply('service.not-ready'));
    expect((await pay(invoice)).status).toBe(409);
    expect((await readState(invoice)).state).toBe('open');
    const paid = buildPayment(invoice, { version: 3, partner: PARTNER });
    await gateway.respondToChecks(() => ({ ok: true, reply: [paid] }));
    await gateway.respondTo(FindPayableV1, () => ({ ok: true, reply: {} }));
    expect((await pay(invoice)).status).toBe(409);
    expect((await readState(invoice)).state).toBe('already-paid');
  });
});
