/**
 * The page that the static code of a till opens. The code is printed in a shop, so a stranger can open it at any time.
 */
import { randomUUID } from 'node:crypto';
import {
  type ChargeInvoice,
  ChargeInvoiceV1,
  FindTillInvoiceV1,
  type InvoiceSource,
  type PayableDescriptor,
  PaymentFailedV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import type { ReplyEnvelope } from '@svc/messaging';
import { anEvent } from '@svc/testing';
import { buildPayment, CODES_URL, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { createInvoice, createTill } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
let staticCode: string;
let invoice: Payable;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
  staticCode = await createTill(gateway, merchant);
  invoice = await createInvoice(gateway, merchant);
  await gateway.respondTo(FindTillInvoiceV1, () => ({ ok: true, reply: { invoiceReference: invoice.payableId } }));
});
afterAll(() => gateway.stop());

type Payable = PayableDescriptor<InvoiceSource>;
type Payment = PaymentSnapshot<InvoiceSource>;
const staticPath = ({ payableId }: Payable): string => `/c/${staticCode}/invoices/${payableId}`;
const ownPath = ({ source }: Payable): string => `/c/${source.code}`;
const pageState = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const readState = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
  ((await gateway.call('GET', `${path}/state`, { headers })).body as { state: string }).state;
const paymentCookie = (reference: string) => ({ cookie: `svc-payment=${reference}` });
const pay = (path: string, overrides: object = {}) =>
  gateway.call('POST', `${path}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', ...overrides },
  });

/** Simulates payment-processor, which declines or accepts every charge. Returns the list of the received commands. */
async function recordCharges(state: 'failed' | 'success' = 'failed'): Promise<ChargeInvoice[]> {
  const commands: ChargeInvoice[] = [];
  await gateway.respondTo(ChargeInvoiceV1, (command): ReplyEnvelope => {
    commands.push(command);
    return { ok: true, reply: buildNthPayment(command.paymentNumber, { state, reference: command.reference }) };
  });
  return commands;
}
/** The payment with this number. The payable has version 3 after the first payment. */
const buildNthPayment = (paymentNumber: number, overrides: Partial<Payment> = {}): Payment =>
  buildPayment(invoice, {
    version: paymentNumber + 2,
    paymentCount: paymentNumber,
    paymentUTCDate: gateway.clock.nowISO(),
    modifiedUTCDate: gateway.clock.nowISO(),
    ...overrides,
  });
const deliver = (type: { name: string }, payment: Payment): Promise<void> =>
  gateway.deliver(anEvent(type, randomUUID(), payment.payable.version, payment));
const deliverFailures = async (from: number, to: number, overrides: Partial<Payment> = {}): Promise<void> => {
  for (let paymentNumber = from; paymentNumber <= to; paymentNumber++)
    await deliver(PaymentFailedV1, buildNthPayment(paymentNumber, { state: 'failed', ...overrides }));
};
const PARTNER = { organisationId: randomUUID(), customer: { id: 'c-1', firstName: '', lastName: '' } };

describe('the page of a static code', () => {
  test('has an address without the code of the invoice, and shows only the shop and the amount', async () => {
    const { status, headers } = await gateway.call('GET', `/c/${staticCode}`);
    expect([status, headers['location']]).toEqual([303, staticPath(invoice)]);
    const { text } = await gateway.call('GET', staticPath(invoice));
    expect(pageState(text)).toBe('open');
    for (const shown of ['Karoo Books', 'R 89.50', `data-calls-path="${staticPath(invoice)}"`])
      expect(text).toContain(shown);
    for (const hidden of [invoice.source.code, 'Rooibos cappuccino', 'basket-17', 'TILL-1', 'Web shop'])
      expect(text).not.toContain(hidden);
    expect((await gateway.call('GET', ownPath(invoice))).text).toContain('Rooibos cappuccino');
  });

  test('shows a receipt without the basket, and only to the browser that paid', async () => {
    const payment = buildNthPayment(1);
    await deliver(PaymentSucceededV1, payment);
    const open = (headers: Record<string, string>) => gateway.call('GET', staticPath(invoice), { headers });
    const receipt = (await open(paymentCookie(payment.reference))).text;
    expect([pageState(receipt), receipt.includes(payment.paymentReference)]).toEqual(['succeeded', true]);
    expect(receipt).not.toMatch(/Rooibos|basket-17|TILL-1/);
    const { text } = await open({});
    expect([pageState(text), text.includes(payment.paymentReference)]).toEqual(['already-paid', false]);
  });

  test('pays the invoice that it shows, and the bank redirects its payer to the same page', async () => {
    const commands = await recordCharges('success');
    const shown = invoice;
    invoice = await createInvoice(gateway, merchant);
    gateway.clock.advance(1_000);
    expect((await gateway.call('GET', `/c/${staticCode}`)).headers['location']).toBe(staticPath(invoice));
    invoice = shown;
    expect((await pay(staticPath(shown))).body).toMatchObject({ state: 'succeeded' });
    expect(commands).toMatchObject([{ payable: shown, payerReturnUrl: `${CODES_URL}${staticPath(shown)}` }]);
  });

  test.each<[string, (otherInvoice: Payable) => string]>([
    ['the reference is malformed', () => `/c/${staticCode}/invoices/x`],
    ['the invoice does not exist', () => `/c/${staticCode}/invoices/${randomUUID()}`],
    ['the invoice belongs to another site', ({ payableId }) => `/c/${staticCode}/invoices/${payableId}`],
    ['the code belongs to an invoice', () => `${ownPath(invoice)}/invoices/${invoice.payableId}`],
    ['the code is malformed', () => `/c/x/invoices/${invoice.payableId}`],
  ])('does not exist if %s', async (_, buildPath) => {
    const path = buildPath(await createInvoice(gateway, await gateway.createMerchant()));
    const { status, text } = await gateway.call('GET', path);
    expect([status, pageState(text)]).toEqual([404, 'not-found']);
    for (const call of ['state', 'events']) expect((await gateway.call('GET', `${path}/${call}`)).status).toBe(404);
    expect((await pay(path)).status).toBe(404);
  });

  test('does not exist if the invoice belongs to a till with the same name of another site or merchant', async () => {
    const { merchantId, siteId } = merchant;
    for (const owner of [{ merchantId }, { siteId }]) {
      const otherInvoice = await createInvoice(gateway, await gateway.createMerchant(owner));
      expect((await gateway.call('GET', staticPath(otherInvoice))).status).toBe(404);
    }
  });

  test.each([{ siteReference: 'TILL-2' }, { mode: 'live' as const }])(
    'does not exist if the invoice belongs to another till of the site, or to another mode: %j',
    async (overrides) => {
      const otherInvoice = await createInvoice(gateway, merchant, overrides);
      expect((await gateway.call('GET', staticPath(otherInvoice))).status).toBe(404);
    },
  );
});

describe('twenty failures on the pages of an invoice', () => {
  test('close its static code for ten minutes, but neither its own code nor the static code for the next invoice', async () => {
    await deliverFailures(1, 19);
    expect(await readState(staticPath(invoice))).toBe('open');
    const commands = await recordCharges();
    expect((await pay(staticPath(invoice), { paymentNumber: 20 })).body).toMatchObject({ state: 'paused' });
    const page = await gateway.call('GET', staticPath(invoice));
    expect([page.status, pageState(page.text)]).toEqual([200, 'paused']);
    expect((await pay(staticPath(invoice), { paymentNumber: 21 })).status).toBe(409);
    expect(commands).toHaveLength(1);
    expect(await readState(ownPath(invoice))).toBe('open');

    gateway.clock.advance(599_999);
    expect(await readState(staticPath(invoice))).toBe('paused');
    gateway.clock.advance(1);
    expect(await readState(staticPath(invoice))).toBe('open');
    expect((await pay(staticPath(invoice), { paymentNumber: 21 })).status).toBe(200);

    const next = await createInvoice(gateway, merchant);
    expect(await readState(staticPath(next))).toBe('open');
  });

  test('still allow a payment on the page of the invoice’s own code', async () => {
    await deliverFailures(1, 20);
    const commands = await recordCharges('success');
    expect((await pay(staticPath(invoice), { paymentNumber: 21 })).status).toBe(409);
    expect((await pay(ownPath(invoice), { paymentNumber: 21 })).body).toMatchObject({ state: 'succeeded' });
    expect(commands).toHaveLength(1);
  });

  test('close it again after twenty more failures, also if these were on the page of the own code', async () => {
    await deliverFailures(1, 20);
    gateway.clock.advance(600_000);
    await deliverFailures(21, 39);
    expect(await readState(staticPath(invoice))).toBe('open');
    await deliverFailures(40, 41);
    expect(await readState(staticPath(invoice))).toBe('paused');
  });

  test('do not include failures of partners, but payments that wait for verification', async () => {
    await deliverFailures(1, 19);
    await deliverFailures(20, 25, { partner: PARTNER });
    expect(await readState(staticPath(invoice))).toBe('open');
    const waiting = buildNthPayment(26, { state: 'verificationRequired' });
    await gateway.respondToChecks(() => ({ ok: true, reply: [] }));
    await deliver(PaymentVerificationRequiredV1, { ...waiting, payable: { ...waiting.payable, state: 'open' } });
    expect(await readState(staticPath(invoice))).toBe('paused');
  });

  test('do not prevent a retry of a pay request that was sent before', async () => {
    const reference = randomUUID();
    await deliverFailures(1, 19);
    await deliverFailures(20, 20, { reference });
    const commands = await recordCharges();
    await pay(staticPath(invoice), { reference, paymentNumber: 20 });
    expect(commands).toHaveLength(1);
  });

  test('cannot be exceeded by concurrent requests: a request must have the number of the next payment', async () => {
    await deliverFailures(1, 19);
    const commands = await recordCharges();
    const paymentNumbers = [20, 21, 22, 23, 40];
    const statuses = await Promise.all(
      paymentNumbers.map(async (paymentNumber) => (await pay(staticPath(invoice), { paymentNumber })).status),
    );
    expect(statuses).toEqual([200, 409, 409, 409, 409]);
    expect(commands).toHaveLength(1);
    expect((await pay(ownPath(invoice), { paymentNumber: 40 })).status).toBe(409);
    expect(commands).toHaveLength(1);
  });
});

describe('the payments of an invoice', () => {
  test('are limited for pages, so that its own code and partners always have some left', async () => {
    await deliverFailures(1, 59, { partner: PARTNER });
    expect(await readState(staticPath(invoice))).toBe('open');
    await deliverFailures(60, 60, { partner: PARTNER });
    expect(await readState(staticPath(invoice))).toBe('refused');
    const commands = await recordCharges();
    expect((await pay(staticPath(invoice), { paymentNumber: 61 })).status).toBe(409);
    expect(commands).toEqual([]);
    await deliverFailures(61, 79, { partner: PARTNER });
    expect(await readState(ownPath(invoice))).toBe('open');
    await deliverFailures(80, 80, { partner: PARTNER });
    expect(await readState(ownPath(invoice))).toBe('refused');
    expect((await pay(ownPath(invoice), { paymentNumber: 81 })).status).toBe(409);
    expect(commands).toEqual([]);
  });
});
