/** The page of one payment: what happened, its customer, its receipt, and refunds that need a confirmation. */
import { randomUUID } from 'node:crypto';
import {
  ConsoleAdministeredV1,
  CreateRefundV1,
  FindReceiptV1,
  MAX_AMOUNT_CENTS,
  MAX_UNCONFIRMED_REFUND_CENTS,
  paymentError,
  type ReceiptOptions,
  SendReceiptV1,
  type SentReceipt,
  SUPPORT_MAX_REFUND_CENTS,
} from '@svc/contracts';
import { newUuidAt } from '@svc/kernel';
import { paymentEvent, refundOf } from '@svc/testing';
import {
  createMerchant,
  newPayment,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
  withOrder,
} from '../../test/console.js';

let app: TestConsole;
let merchant: TestMerchant;
/** The commands that the console sent since the beginning of the test. */
let sent: object[] = [];
let options: ReceiptOptions | undefined;
let result: SentReceipt['result'] = 'sent';
let isRefundRefused = false;
beforeAll(async () => {
  app = await startConsole();
  await app.respondTo(FindReceiptV1, () =>
    options === undefined
      ? { ok: false, code: 'resource.not-found', message: 'Not found', fields: [] }
      : { ok: true, reply: options },
  );
  await app.respondTo(SendReceiptV1, (request) => {
    sent.push(request);
    return { ok: true, reply: { result } };
  });
  await app.respondTo(CreateRefundV1, (request) => {
    sent.push(request);
    if (isRefundRefused) return { ok: false, code: 'refund.amount-exceeded', message: 'Too much', fields: [] };
    const { amount, svcId } = request;
    const createdUTCDate = '2026-03-01T10:00:00.000Z';
    return { ok: true, reply: { refundReference: randomUUID(), svcId, amount, status: 'pending', createdUTCDate } };
  });
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
  sent = [];
  options = { pageUrl: 'https://pay.example/pay?sessionId=1', canMail: true };
  result = 'sent';
  isRefundRefused = false;
});

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
const pagePath = (reference: string, rest = ''): string => `/${merchant.merchantId}/test/payments/${reference}${rest}`;
const audited = async () =>
  (await app.published(ConsoleAdministeredV1))
    .map(({ payload }) => payload)
    .filter(({ merchantId }) => merchantId === merchant.merchantId);

describe('what happened', () => {
  it('begins with the session, and contains earlier payments with the answer of the bank, and the confirmation', async () => {
    const sessionId = newUuidAt(at('08:55:00'));
    const ofSession = (time: string) => {
      const payment = newPayment(merchant, at(time));
      return { ...payment, payable: { ...payment.payable, payableId: sessionId } };
    };
    const errors = [paymentError('card.insufficient-funds')];
    const declined = { ...ofSession('08:57:00'), state: 'failed' as const, processedAmount: 0, errors };
    const paid = ofSession('09:00:00');
    const asked = { ...paid, state: 'verificationRequired' as const, modifiedUTCDate: '2026-03-01T09:01:00.000Z' };
    await store(app, declined);
    await app.deliver(paymentEvent({ ...paid, modifiedUTCDate: '2026-03-01T09:02:00.000Z' }, 3));
    // The event may come after the outcome.
    await app.deliver(paymentEvent(asked, 2));
    const { text } = await app.signIn([merchant.grant('finance')]).get(pagePath(paid.paymentReference));
    expect(text).toContain(
      [
        '2026-03-01 10:55 Session created',
        `2026-03-01 10:57 Another payment of this order : It failed ${errors[0]!.message} (${errors[0]!.errorReference})`,
        '2026-03-01 11:00 Payment received',
        '2026-03-01 11:01 The payer’s bank asks for a confirmation',
        '2026-03-01 11:02 The bank approved it',
      ].join(' '),
    );
  });

  it('contains no payment of another site of the merchant', async () => {
    const [, second] = merchant.sites;
    const payment = newPayment(merchant, at('09:00:00'));
    const other = { ...newPayment(merchant, at('08:00:00'), { siteId: second }), payable: payment.payable };
    await store(app, payment, other);
    const { html } = await app.signIn([merchant.grant('owner')]).get(pagePath(payment.paymentReference));
    expect(html).not.toContain(other.paymentReference);
  });

  it('is the part of the page that is sent again when it has changed', async () => {
    const payment = newPayment(merchant, at('09:00:00'));
    await store(app, payment);
    const { html } = await app.signIn([merchant.grant('owner')]).get(pagePath(payment.paymentReference));
    expect(html).toContain(`data-live="${pagePath(payment.paymentReference, '/live')}"`);
  });
});

describe('the customer', () => {
  const partner = { organisationId: randomUUID(), customer: { id: 'c', firstName: 'Thandi', lastName: 'Nkosi' } };
  let reference: string;
  beforeEach(async () => {
    const payment = newPayment(merchant, at('09:00:00'), { partner });
    reference = payment.paymentReference;
    await store(app, payment);
  });

  it('is shown after a press of the button, which is one entry of the audit log', async () => {
    const support = app.signIn([merchant.grant('support')]);
    const page = await support.get(pagePath(reference));
    expect([page.text.includes('Show the customer'), page.html.includes('Nkosi')]).toEqual([true, false]);
    const shown = await support.post(pagePath(reference, '/customer'));
    expect([shown.status, shown.text.includes('Customer Thandi Nkosi')]).toEqual([200, true]);
    expect(await audited()).toEqual([
      {
        action: 'customer.shown',
        actor: `person:${support.person.personId}`,
        requestId: shown.headers['x-request-id'],
        merchantId: merchant.merchantId,
        siteId: merchant.sites[0],
        after: { mode: 'test', paymentReference: reference },
      },
    ]);
    await support.post(pagePath(reference, '/customer'));
    expect(await audited()).toHaveLength(2);
    expect((await support.get(pagePath(reference))).html).not.toContain('Nkosi');
  });

  it('has no button for a developer and for an anonymous payer, and does not exist for another site', async () => {
    const developer = await app.signIn([merchant.grant('developer')]).get(pagePath(reference));
    expect(developer.text).not.toContain('Show the customer');
    const anonymous = newPayment(merchant, at('10:00:00'));
    await store(app, anonymous);
    const owner = app.signIn([merchant.grant('owner')]);
    expect((await owner.get(pagePath(anonymous.paymentReference))).text).not.toContain('Show the customer');
    await owner.post(pagePath(anonymous.paymentReference, '/customer'));
    const ofSecond = app.signIn([merchant.grant('owner', merchant.sites[1])]);
    expect((await ofSecond.post(pagePath(reference, '/customer'))).status).toBe(404);
    expect(await audited()).toEqual([]);
  });
});

describe('the receipt', () => {
  let payment: ReturnType<typeof newPayment>;
  beforeEach(async () => {
    payment = withOrder(newPayment(merchant, at('09:00:00')), 'order');
    await store(app, payment);
  });

  it('is opened to print it, and sent to the address that the person types', async () => {
    const support = app.signIn([merchant.grant('support')]);
    const { html } = await support.get(pagePath(payment.paymentReference));
    expect(html).toContain('href="https://pay.example/pay?sessionId=1" target="_blank" rel="noopener noreferrer"');
    const key = randomUUID();
    const { status, headers } = await support.post(pagePath(payment.paymentReference, '/receipts'), {
      email: ' thandi@example.com ',
      key,
    });
    expect([status, headers['location']]).toEqual([303, pagePath(payment.paymentReference, '?receipt=sent')]);
    expect(sent).toEqual([
      {
        merchantId: merchant.merchantId,
        siteId: merchant.sites[0],
        mode: 'test',
        paymentReference: payment.paymentReference,
        payableId: payment.payable.payableId,
        source: 'session',
        code: payment.source.code,
        email: 'thandi@example.com',
        idempotencyKey: key,
        personId: support.person.personId,
        requestId: headers['x-request-id'],
      },
    ]);
    const after = await support.get(String(headers['location']));
    expect(after.text).toContain('The receipt was sent.');
  });

  it.each([
    ['invalid', 'the e-mail address is not correct'],
    ['limited', 'No more receipts of this payment'],
    ['failed', 'The receipt could not be sent'],
  ] as const)('that is %s says why', async (refusal, text) => {
    result = refusal;
    const form = { email: 'thandi@example.com', key: randomUUID() };
    const page = await app
      .signIn([merchant.grant('owner')])
      .post(pagePath(payment.paymentReference, '/receipts'), form);
    expect([page.status, page.text.includes(text)]).toEqual([422, true]);
  });

  it('is not sent without an address or a key', async () => {
    const owner = app.signIn([merchant.grant('owner')]);
    for (const form of [{ key: randomUUID() }, { email: 'a@example.com' }, { email: 'a@example.com', key: 'x' }])
      expect((await owner.post(pagePath(payment.paymentReference, '/receipts'), form as never)).status).toBe(422);
    expect(sent).toEqual([]);
  });

  it('has no form without a mail server or the right, and no card if there is no receipt', async () => {
    const open = async (role: 'owner' | 'developer') =>
      (await app.signIn([merchant.grant(role)]).get(pagePath(payment.paymentReference))).text;
    expect(await open('developer')).not.toContain('Send the receipt');
    options = { pageUrl: 'https://pay.example/pay', canMail: false };
    const text = await open('owner');
    expect([text.includes('Open the receipt'), text.includes('Send the receipt')]).toEqual([true, false]);
    options = undefined;
    expect(await open('owner')).not.toContain('Receipt');
  });
});

describe('a refund', () => {
  const CONFIRMED_MS = 10 * 60_000;
  const open = async (amount: number) => {
    const payment = newPayment(merchant, at('09:00:00'), { amount, processedAmount: amount });
    await store(app, payment);
    return payment.paymentReference;
  };
  const signIn = (role: 'owner' | 'finance' | 'support', agoMs: number) =>
    app.signIn([merchant.grant(role)], {
      authenticatedUTCDate: new Date(app.clock.now().getTime() - agoMs).toISOString(),
    });

  it.each([
    ['owner', '1000.01', CONFIRMED_MS, 'confirmation'],
    ['finance', '1000.01', CONFIRMED_MS, 'confirmation'],
    ['owner', '1000.01', CONFIRMED_MS - 1, 'refund'],
    ['owner', '1000.00', CONFIRMED_MS, 'refund'],
    ['support', '1000.00', CONFIRMED_MS, 'refund'],
  ] as const)('of %s over R %s, confirmed %d ms ago: %s', async (role, amount, agoMs, expected) => {
    const reference = await open(5 * MAX_UNCONFIRMED_REFUND_CENTS);
    const form = { amount, key: randomUUID(), reason: 'A secret reason' };
    const { status, headers } = await signIn(role, agoMs).post(pagePath(reference, '/refunds'), form);
    const next = encodeURIComponent(pagePath(reference, `?refundAmount=${amount}`));
    const cents = Number(amount.replace('.', ''));
    const locations = {
      confirmation: `/account/confirm?next=${next}`,
      refund: pagePath(reference, `?refund=pending&amount=${cents}`),
    };
    expect([status, headers['location']]).toEqual([303, locations[expected]]);
    expect(sent).toHaveLength(expected === 'refund' ? 1 : 0);
  });

  it.each([
    ['owner', CONFIRMED_MS - 1, MAX_AMOUNT_CENTS],
    ['owner', CONFIRMED_MS, MAX_UNCONFIRMED_REFUND_CENTS],
    ['support', CONFIRMED_MS - 1, SUPPORT_MAX_REFUND_CENTS],
  ] as const)('of %s, confirmed %d ms ago, has the limit that concurrent refunds keep', async (role, agoMs, limit) => {
    const form = { amount: '10.00', key: randomUUID() };
    await signIn(role, agoMs).post(pagePath(await open(500_000), '/refunds'), form);
    expect(sent).toMatchObject([{ amount: 1_000, maxRefundedAmount: limit }]);
  });

  it('counts the earlier refunds of the payment, so that small ones do not avoid the confirmation', async () => {
    const payment = newPayment(merchant, at('09:00:00'), { amount: 500_000, processedAmount: 500_000 });
    await store(app, payment);
    await app.deliver(refundOf(payment, { amount: 60_000, status: 'succeeded' }));
    const owner = signIn('owner', CONFIRMED_MS);
    const refund = async (amount: string) =>
      (await owner.post(pagePath(payment.paymentReference, '/refunds'), { amount, key: randomUUID() })).headers[
        'location'
      ];
    expect(await refund('400.01')).toMatch(/^\/account\/confirm/);
    expect(await refund('400.00')).toContain('refund=pending');
  });

  it('has its amount in the form again after the confirmation, at most what is left', async () => {
    const reference = await open(200_000);
    const owner = app.signIn([merchant.grant('owner')]);
    const { html, text } = await owner.get(pagePath(reference, '?refundAmount=1500.50'));
    expect(html).toMatch(/name="amount"[^>]*value="1500\.50"/);
    expect(text).toContain('Check the amount, enter the reason again');
    const tooMuch = await owner.get(pagePath(reference, '?refundAmount=9999.00'));
    expect(tooMuch.html).toMatch(/name="amount"[^>]*value="2000\.00"/);
  });
});

test('a phone has a link to the receipt, if the person may use it', async () => {
  const payment = newPayment(merchant, new Date('2026-03-01T09:00:00Z'));
  await store(app, payment);
  const hasLink = async () => {
    const path = `/${merchant.merchantId}/test/payments/${payment.paymentReference}`;
    return (await app.signIn([merchant.grant('owner')]).get(path)).html.includes('href="#receipt"');
  };
  expect(await hasLink()).toBe(true);
  options = { canMail: false };
  expect(await hasLink()).toBe(false);
});

test.each([
  ['15.5', 'by the form', 0],
  ['123.46', 'by the form', 0],
  ['15.50', 'by payment-processor', 1],
])(
  'a refund of %s that is refused %s has what the person has typed, and not the whole amount',
  async (amount, _, sentCount) => {
    const payment = newPayment(merchant, new Date('2026-03-01T09:00:00Z'));
    await store(app, payment);
    isRefundRefused = true;
    const form = { amount, reason: 'A "cold" cup', key: randomUUID() };
    const path = `/${merchant.merchantId}/test/payments/${payment.paymentReference}/refunds`;
    const { status, html } = await app.signIn([merchant.grant('owner')]).post(path, form);
    expect([status, sent.length]).toEqual([422, sentCount]);
    const field = /<input name="amount"[^>]*>/.exec(html)![0];
    expect([field.includes(`value="${amount}"`), field.includes('aria-invalid')]).toEqual([true, sentCount === 0]);
    expect(html).toMatch(/name="reason"[^>]*value="A &quot;cold&quot; cup"/);
  },
);

test('support reads how much its role may give back, and who can give back the rest', async () => {
  const amounts = { amount: 250_000, processedAmount: 250_000 };
  const payment = newPayment(merchant, new Date('2026-03-01T09:00:00Z'), amounts);
  await store(app, payment);
  const textFor = async (role: 'support' | 'owner') => {
    const path = `/${merchant.merchantId}/test/payments/${payment.paymentReference}`;
    return (await app.signIn([merchant.grant(role)]).get(path)).text;
  };
  expect(await textFor('support')).toContain(
    'With your role, R 1 000.00 can still be given back. An owner or finance can give back R 2 500.00.',
  );
  expect(await textFor('owner')).toContain('R 2 500.00 can still be given back.');
  await app.deliver(refundOf(payment, { amount: 100_000, status: 'succeeded' }));
  expect(await textFor('support')).toContain(
    'Your role has given back what it may of this payment. An owner or finance can give back R 1 500.00.',
  );
});
