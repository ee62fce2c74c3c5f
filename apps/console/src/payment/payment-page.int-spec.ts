/** The page of one payment: its title, its facts, and the links to what can be done below and to what its webhooks sent. */
import { randomUUID } from 'node:crypto';
import { type DeliveryWithAttempts, GetDeliveryV1, type PaymentSnapshot, type Role } from '@svc/contracts';
import { notificationIdOf, siteDeliveryIdOf } from '@svc/kernel';
import {
  createMerchant,
  newPayment,
  type Page,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
  withOrder,
} from '../../test/console.js';
import { newRequestPayment } from '../../test/requests.js';

const AT = new Date('2026-03-01T09:00:00Z');

let app: TestConsole;
let merchant: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
});

async function open(payment: PaymentSnapshot, role: Role = 'owner'): Promise<Page> {
  await store(app, payment);
  const path = `/${merchant.merchantId}/test/payments/${payment.paymentReference}`;
  return app.signIn([merchant.grant(role)]).get(path);
}

test('the title is the amount with the order number, and the reference is the first fact', async () => {
  const payment = withOrder(newPayment(merchant, AT), 'BOOKS-7');
  const { text, html } = await open(payment);
  expect(html).toContain('<title>Payment of R\u00a0123.45 for order BOOKS-7 · Karoo Books</title>');
  expect(text).toContain('Payment of R 123.45 for order BOOKS-7');
  expect(text).toContain(`Reference ${payment.paymentReference} State Paid Amount R 123.45`);
  const ofInvoice = { ...newRequestPayment(merchant, randomUUID()), ...{ mode: 'test' as const } };
  expect((await open(ofInvoice)).html).toContain('<h1>Payment of R\u00a0123.45</h1>');
});

test.each<[string, Partial<PaymentSnapshot>, string | undefined]>([
  ['the whole amount', { processedAmount: 12_345 }, undefined],
  ['less', { processedAmount: 10_000 }, 'Charged R 100.00'],
  ['nothing, because it failed', { state: 'failed', processedAmount: 0 }, undefined],
])('the charge is a fact only if it differs from the amount: %s', async (_, changes, charged) => {
  const { text } = await open(newPayment(merchant, AT, changes));
  expect(/Charged R [\d.]+/.exec(text)?.[0]).toBe(charged);
});

test.each<[string, Role, Partial<PaymentSnapshot>, boolean]>([
  ['a paid payment', 'owner', {}, true],
  ['a role that gives no money back', 'developer', {}, false],
  ['nothing that is left', 'owner', { processedAmount: 0 }, false],
  ['a payment without a card', 'owner', { paymentMethodType: 'External' }, false],
  ['a failed payment', 'owner', { state: 'failed', processedAmount: 0 }, false],
])('the link to the form of the refund is there exactly if the form is: %s', async (_, role, changes, isThere) => {
  const { html } = await open(newPayment(merchant, AT, changes), role);
  expect([html.includes('href="#refund"'), html.includes('name="amount"')]).toEqual([isThere, isThere]);
});

test.each<[Role, boolean]>([
  ['owner', true],
  ['support', true],
  ['developer', true],
  ['finance', false],
])('a webhook has a link to what was sent, for people who see deliveries: %s %p', async (role, isThere) => {
  const payment = newPayment(merchant, AT);
  const id = siteDeliveryIdOf(notificationIdOf(payment), payment.paymentUTCDate);
  await app.respondTo(GetDeliveryV1, (request) =>
    request.id === id
      ? { ok: true, reply: deliveryOf(payment, id) }
      : { ok: false, code: 'resource.not-found', message: 'Not found', fields: [] },
  );
  const { html } = await open(payment, role);
  const links = [...html.matchAll(/href="([^"]+\/developers\/deliveries\/[^"]+)"/g)].map(([, link]) => link);
  const path = `/${merchant.merchantId}/test/developers/deliveries/${id}?site=${payment.siteId}`;
  expect(links).toEqual(isThere ? [path] : []);
});

const deliveryOf = ({ paymentReference, paymentUTCDate }: PaymentSnapshot, id: string): DeliveryWithAttempts => ({
  id,
  webhookId: id,
  recipient: 'site',
  type: 'payment',
  sessionId: null,
  paymentReference,
  paymentStatus: 'Success',
  url: 'https://shop.example/webhooks',
  state: 'pending',
  attemptCount: 0,
  createdUTCDate: paymentUTCDate,
  deliveredUTCDate: null,
  nextAttemptUTCDate: null,
  missingKeys: null,
  lastAttempt: null,
  attempts: [],
});
