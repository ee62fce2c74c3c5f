/** A person of the merchant sends the receipt of a payment, through a real SMTP server. */
import { randomUUID } from 'node:crypto';
import {
  FindReceiptV1,
  HostedGatewayAdministeredV1,
  type PaymentSnapshot,
  type ReceiptRequest,
  SendReceiptV1,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { paymentEvent, SmtpInbox } from '@svc/testing';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { MAX_MAILS_OF_MERCHANT } from '../receipts/receipt-mail.repository.js';

let gateway: Gateway;
let commands: Commands;
let inbox: SmtpInbox;
let merchant: Merchant;
let receipt: ReceiptRequest;
beforeAll(async () => {
  inbox = await SmtpInbox.start();
  gateway = await startGateway({ SVC_SMTP_URL: inbox.url, SVC_MAIL_FROM: 'payments@svc.example' });
  commands = new Commands(gateway.broker);
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
  receipt = await pay();
  inbox.mails.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await inbox[Symbol.asyncDispose]();
});

async function pay(changes: Partial<PaymentSnapshot> = {}, session: Record<string, unknown> = {}) {
  const sessionId = await gateway.createSession(merchant, session);
  const payable = await gateway.findPublishedPayable(sessionId);
  const payment = buildPayment(payable, { version: 3, modifiedUTCDate: gateway.clock.nowISO(), ...changes } as never);
  await gateway.deliver(paymentEvent(payment));
  const { merchantId, siteId, mode, paymentReference, source } = payment;
  return {
    merchantId,
    siteId,
    mode,
    paymentReference,
    payableId: sessionId,
    source: 'session',
    code: source.code,
  } as const;
}
const personId = randomUUID();
const send = (email: string, changes: Partial<ReceiptRequest> = {}, idempotencyKey: string = randomUUID()) =>
  commands.request(SendReceiptV1, { ...receipt, ...changes, email, idempotencyKey, personId, requestId: 'request-1' });
const newAddress = (): string => `thandi-${randomUUID()}@example.com`;
const audited = async () =>
  (await gateway.published(HostedGatewayAdministeredV1))
    .map(({ payload }) => payload)
    .filter(({ merchantId }) => merchantId === merchant.merchantId);

test('a person finds the page with the receipt, and that it can be sent', async () => {
  expect(await commands.request(FindReceiptV1, receipt)).toEqual({
    pageUrl: `https://pay.example/pay?sessionId=${receipt.payableId}`,
    canMail: true,
  });
});

test('the receipt arrives, says who sent it, and has an entry in the audit log without the address', async () => {
  const to = newAddress();
  expect(await send(` ${to} `)).toEqual({ result: 'sent' });
  const mail = await inbox.waitForMail(to);
  expect(mail.subject).toBe('Receipt from Karoo Books: R 123.45');
  expect(mail.text).toContain(`Payment reference: ${receipt.paymentReference}`);
  expect(mail.text).toContain('You get this e-mail because Karoo Books sent you the receipt.');
  const [entry, ...others] = await audited();
  expect(others).toEqual([]);
  expect(entry).toEqual({
    action: 'receipt-mail.requested',
    actor: `person:${personId}`,
    requestId: 'request-1',
    merchantId: merchant.merchantId,
    siteId: receipt.siteId,
    after: { paymentReference: receipt.paymentReference, mailId: expect.any(String) as string },
  });
  expect(JSON.stringify(entry)).not.toContain('example.com');
});

test('the mail has the language of the session', async () => {
  receipt = await pay({}, { locale: 'af-ZA' });
  const to = newAddress();
  await send(to);
  const { subject, text } = await inbox.waitForMail(to);
  expect(subject).toBe('Kwitansie van Karoo Books: R 123,45');
  expect(text).toContain('omdat Karoo Books die kwitansie aan jou gestuur het');
});

test('a repeat with the same key sends one mail, and the key is refused for another address or payment', async () => {
  const to = newAddress();
  const key = randomUUID();
  expect(await Promise.all([send(to, {}, key), send(to, {}, key)])).toEqual([{ result: 'sent' }, { result: 'sent' }]);
  expect(await send(to, {}, key)).toEqual({ result: 'sent' });
  await inbox.waitForMail(to);
  expect([inbox.mails.length, (await audited()).length]).toEqual([1, 1]);
  await expect(send(newAddress(), {}, key)).rejects.toMatchObject({ code: 'request.idempotency-conflict' });
  await expect(send(to, await pay(), key)).rejects.toMatchObject({ code: 'request.idempotency-conflict' });
});

test('three receipts of one payment are sent, then no more', async () => {
  const results = [];
  for (let mail = 0; mail < 4; mail++) results.push((await send(newAddress())).result);
  expect(results).toEqual(['sent', 'sent', 'sent', 'limited']);
  expect(await audited()).toHaveLength(3);
});

test('a merchant sends a hundred receipts in an hour, of all payments together, and another merchant is not limited', async () => {
  const anHourAgo = gateway.clock.later(-3_600_000);
  const insertMails = (count: number, at: Date) =>
    gateway.dataSource.query(
      `INSERT INTO receipt_mails (mail_id, payment_reference, address_hash, merchant_id, sent_at)
       SELECT gen_random_uuid(), 'payment ' || n, rpad(n::text, 22, '-'), $1, $3 FROM generate_series(1, $2::int) n`,
      [merchant.merchantId, count, at],
    );
  await insertMails(100, anHourAgo);
  await insertMails(MAX_MAILS_OF_MERCHANT - 1, gateway.clock.now());
  const results = await Promise.all([send(newAddress()), send(newAddress())]);
  expect(results.map(({ result }) => result).sort()).toEqual(['limited', 'sent']);
  merchant = await gateway.createMerchant();
  expect(await send(newAddress(), await pay())).toEqual({ result: 'sent' });
});

test.each(['', 'nobody', 'a@b', `${'x'.repeat(255)}@example.com`, 'a@example.com\nBcc: b@example.com'])(
  'the address "%s" is invalid, and nothing is sent or counted',
  async (email) => {
    expect(await send(email)).toEqual({ result: 'invalid' });
    expect([inbox.mails, await audited()]).toEqual([[], []]);
  },
);

test('a payment of another merchant, site or mode, another payment and a failed payment have no receipt', async () => {
  const other = await gateway.createMerchant();
  const failed = await pay({ state: 'failed' });
  const refused: Partial<ReceiptRequest>[] = [
    { merchantId: other.merchantId },
    { siteId: receipt.siteId + 1 },
    { mode: receipt.mode === 'test' ? 'live' : 'test' },
    { payableId: randomUUID() },
    { paymentReference: failed.paymentReference },
    failed,
  ];
  for (const changes of refused) {
    await expect(commands.request(FindReceiptV1, { ...receipt, ...changes })).rejects.toMatchObject({
      code: 'resource.not-found',
    });
    await expect(send(newAddress(), changes)).rejects.toMatchObject({ code: 'resource.not-found' });
  }
  expect(inbox.mails).toEqual([]);
});
