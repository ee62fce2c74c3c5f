/** A payer sends the receipt by e-mail, from the form of the page, through a real SMTP server. */
import { randomUUID } from 'node:crypto';
import { type ChargeInvoice, ChargeInvoiceV1 } from '@svc/contracts';
import { SmtpInbox } from '@svc/testing';
import {
  ADMIN_KEY,
  buildPayment,
  type Gateway,
  type HttpResponse,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';
import { createInvoice } from '../../test/till-invoices.js';

let gateway: Gateway;
let inbox: SmtpInbox;
let merchant: Merchant;
/** Recipients that the SMTP server rejects, by the code of its response. */
const rejections = new Map<string, number>();
beforeAll(async () => {
  inbox = await SmtpInbox.start({
    onRcptTo: ({ address }, _session, callback) => {
      const responseCode = rejections.get(address);
      callback(responseCode === undefined ? null : Object.assign(new Error('No'), { responseCode }));
    },
  });
  gateway = await startGateway({ SVC_SMTP_URL: inbox.url, SVC_MAIL_FROM: 'payments@svc.example' });
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
  rejections.clear();
  inbox.mails.length = 0;
  await gateway.respondToCharges(({ payable, reference }) => ({
    ok: true,
    reply: buildPayment(payable, { reference, version: 3, modifiedUTCDate: gateway.clock.nowISO() }),
  }));
});
afterAll(async () => {
  await gateway.stop();
  await inbox[Symbol.asyncDispose]();
});

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const send = (
  path: string,
  email: string,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Promise<HttpResponse> => {
  const [base, query] = path.split('?');
  return gateway.call('POST', `${base}/receipts${query === undefined ? '' : `?${query}`}`, {
    headers: { ...FORM, ...headers },
    payload: new URLSearchParams({ email }).toString(),
  });
};
const pay = (path: string, reference = randomUUID()): Promise<HttpResponse> =>
  gateway.call('POST', `${path}/payments`, { payload: { reference, paymentNumber: 1, encryptedCard: 'a.b.c' } });
async function createPaidSession(overrides: Record<string, unknown> = {}): Promise<string> {
  const path = `/pay/${await gateway.createSession(merchant, overrides)}`;
  expect((await pay(path)).status).toBe(200);
  return path;
}
const resultOf = ({ status, headers }: HttpResponse): string | undefined =>
  status === 303
    ? (new URL(String(headers['location']), 'https://x.example').searchParams.get('receipt') ?? '')
    : String(status);
const newAddress = (): string => `thandi-${randomUUID()}@example.com`;

test('the page of a paid session has the form, which works without a script, and the mail arrives', async () => {
  const path = await createPaidSession();
  const pageUrl = `/pay?sessionId=${path.split('/').at(-1)!}`;
  const page = await gateway.call('GET', pageUrl);
  expect(page.text).toContain(`<form method="post" action="${path}/receipts">`);
  expect(page.headers['content-security-policy']).toContain("form-action 'self'");
  const to = newAddress();
  const response = await send(path, to);
  expect([response.status, response.headers['location']]).toEqual([303, `${pageUrl}&receipt=sent`]);
  expect((await gateway.call('GET', String(response.headers['location']))).text).toContain(
    'The receipt was sent. It may take a few minutes to arrive.',
  );
  const { text, html, ...mail } = await inbox.waitForMail(to);
  expect(mail).toMatchObject({
    envelope: { from: 'payments@svc.example', to: [to] },
    from: { name: 'Karoo Books', address: 'payments@svc.example' },
    replyTo: [],
    subject: 'Receipt from Karoo Books: R 123.45',
  });
  const reference = /Payment reference: (\w+)/.exec(text)?.[1];
  expect(reference).toMatch(/^[0-9A-Z]{18}$/);
  expect(text.trim()).toBe(
    [
      'Your payment to Karoo Books',
      'TEST: no money moves',
      [
        'Amount: R 123.45',
        'Card: **** 4242',
        'Date: 1 March 2026 at 12:00 SAST',
        'Order: order-17',
        `Payment reference: ${reference}`,
      ].join('\n'),
      'You get this e-mail because this address was typed on the payment page. If you did not do this, you can delete it.',
    ].join('\n\n'),
  );
  // Both parts have the same texts. The HTML part begins with the name of the merchant.
  const words = (part: string): string => part.replace(/[\s:]/g, '');
  const visible = html.replace(/<head>.*<\/head>/s, '').replace(/<[^>]*>/g, ' ');
  expect(words(visible)).toBe(`KarooBooks${words(text)}`);
  expect(mail.source).not.toMatch(/\d{13}/);
});

test('the mail has the basket as the receipt on the page has it', async () => {
  const lineItems = [
    { name: 'Enamel <Mug>', unitPrice: 4_000, quantity: 2 },
    { name: 'Map', unitPrice: 2_000, quantity: 1 },
  ];
  const basket = { lineItems, shippingAmount: 2_345, taxAmount: 1_610 };
  const to = newAddress();
  expect(resultOf(await send(await createPaidSession(basket), to))).toBe('sent');
  const { text, html } = await inbox.waitForMail(to);
  const rows = [
    'Enamel <Mug>, 2 × R 40.00: R 80.00',
    'Map: R 20.00',
    'Delivery: R 23.45',
    'Total: R 123.45',
    'VAT included: R 16.10',
  ];
  expect(text).toContain(['Your order', ...rows].join('\n'));
  const visible = html.replace(/<head>.*<\/head>/s, '').replace(/<[^>]*>/g, ' ');
  expect(visible.replace(/\s+/g, ' ')).toContain(
    'Your order Enamel &lt;Mug> 2 × R 40.00 R 80.00 Map R 20.00 Delivery R 23.45 Total R 123.45 VAT included R 16.10',
  );
});

test('a basket that is too large for a mail is shown by its number of lines and its total', async () => {
  const name = '€'.repeat(60);
  const lineItems = Array.from({ length: 500 }, () => ({ name, unitPrice: 20, quantity: 1 }));
  const to = newAddress();
  expect(resultOf(await send(await createPaidSession({ lineItems, shippingAmount: 2_345 }), to))).toBe('sent');
  const { text, html } = await inbox.waitForMail(to);
  expect(text).toContain('Your order: 500 items\nDelivery: R 23.45\nTotal: R 123.45');
  expect(html).not.toContain('€');
});

test('the mail has the language of the page and the look of the merchant', async () => {
  const look = {
    accentColour: '#ffcc00',
    displayName: 'Karoo <Coffee>',
    supportEmail: 'help@karoo.example',
    supportPhone: '021 555 0100',
    termsUrl: 'https://karoo.example/terms?a=1&b=2',
  };
  await gateway.call('PUT', `/admin/v1/looks/${merchant.merchantId}`, {
    headers: { 'x-admin-key': ADMIN_KEY },
    payload: look,
  });
  gateway.clock.advance(10_000);
  const to = newAddress();
  expect(resultOf(await send(`${await createPaidSession()}?lang=af`, to))).toBe('sent');
  const mail = await inbox.waitForMail(to);
  expect(mail).toMatchObject({
    from: { name: 'Karoo <Coffee>', address: 'payments@svc.example' },
    replyTo: ['help@karoo.example'],
    subject: 'Kwitansie van Karoo <Coffee>: R 123,45',
  });
  expect(mail.text).toContain(
    'Vrae? Kontak Karoo <Coffee>:\nhelp@karoo.example\n021 555 0100\nBepalings en voorwaardes: https://karoo.example/terms?a=1&b=2',
  );
  for (const shown of [
    'background:#ffcc00;color:#000000',
    'Karoo &lt;Coffee>',
    'href="https://karoo.example/terms?a=1&amp;b=2"',
    '<html lang="af"',
  ])
    expect(mail.html).toContain(shown);
});

test('only the payer of the payment can send its receipt', async () => {
  const open = `/pay/${await gateway.createSession(merchant)}`;
  for (const path of [open, `/pay/${randomUUID()}`, '/c/01234567890123456789'])
    expect(resultOf(await send(path, newAddress()))).toBe('404');

  const invoice = await createInvoice(gateway, merchant);
  await gateway.respondTo(ChargeInvoiceV1, ({ payable, reference, amount, tipAmount }: ChargeInvoice) => ({
    ok: true,
    reply: buildPayment(payable, { reference, amount, tipAmount, version: 3, modifiedUTCDate: gateway.clock.nowISO() }),
  }));
  const path = `/c/${invoice.source.code}`;
  const reference = randomUUID();
  expect((await pay(path, reference)).status).toBe(200);
  expect(resultOf(await send(path, newAddress()))).toBe('404');
  const others = { headers: { cookie: `svc-payment=${randomUUID()}` } };
  expect(resultOf(await send(path, newAddress(), others))).toBe('404');
  expect((await gateway.call('GET', path)).text).not.toContain('/receipts');
  expect(inbox.mails).toEqual([]);
  const own = await send(path, newAddress(), { headers: { cookie: `svc-payment=${reference}` } });
  expect([own.status, own.headers['location']]).toEqual([303, `${path}?receipt=sent`]);
});

test('a page of another origin cannot send a receipt', async () => {
  const path = await createPaidSession();
  for (const site of ['cross-site', 'same-site', 'none'])
    expect(resultOf(await send(path, newAddress(), { headers: { 'sec-fetch-site': site } }))).toBe('403');
  expect(inbox.mails).toEqual([]);
});

test('three receipts for a payment, also at the same time', async () => {
  const path = await createPaidSession();
  const results = await Promise.all([1, 2, 3, 4, 5].map(async () => resultOf(await send(path, newAddress()))));
  expect(results.sort()).toEqual(['limited', 'limited', 'sent', 'sent', 'sent']);
  expect(inbox.mails).toHaveLength(3);
  gateway.clock.advance(29 * 86_400_000);
  expect(resultOf(await send(path, newAddress()))).toBe('limited');
});

test('five receipts a day for an address, in any case of its letters', async () => {
  const to = newAddress();
  const paths = await Promise.all([1, 2, 3, 4, 5, 6].map(() => createPaidSession()));
  const results: (string | undefined)[] = [];
  for (const path of paths) results.push(resultOf(await send(path, results.length % 2 === 0 ? to : to.toUpperCase())));
  expect(results).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'limited']);
  expect(resultOf(await send(paths[5]!, newAddress()))).toBe('sent');
  gateway.clock.advance(86_400_000);
  expect(resultOf(await send(paths[5]!, to))).toBe('sent');
});

test('a receipt that was not sent does not count, and the payer can try again', async () => {
  const path = await createPaidSession();
  const to = newAddress();
  rejections.set(to, 451);
  for (let nth = 1; nth <= 4; nth++) expect(resultOf(await send(path, to))).toBe('failed');
  rejections.set(to, 550);
  expect(resultOf(await send(path, to))).toBe('invalid');
  rejections.clear();
  expect(resultOf(await send(path, to))).toBe('sent');
  for (const result of ['failed', 'invalid', 'limited']) {
    const { text } = await gateway.call('GET', `/pay?sessionId=${path.split('/').at(-1)!}&receipt=${result}`);
    expect(text).toMatch(/<details class="receipt-mail" id="receipt-mail" open>.*id="receipt-result" role="status"/s);
  }
});

test.each([
  '',
  'thandi',
  'a@b.example, c@d.example',
  'a@b.example\r\nBcc: c@d.example',
  `${'x'.repeat(250)}@b.example`,
])('refuses the address %j', async (email) => {
  expect(resultOf(await send(await createPaidSession(), email))).toBe('invalid');
  expect(inbox.mails).toEqual([]);
});

test('a merchant order id with markup is text', async () => {
  const to = newAddress();
  const merchantOrderId = '<b>1</b> & "2"';
  await send(await createPaidSession({ merchantOrderId }), to);
  const mail = await inbox.waitForMail(to);
  expect(mail.text).toContain(`Order: ${merchantOrderId}\n`);
  expect(mail.html).toContain('&lt;b>1&lt;/b> &amp; &quot;2&quot;');
});

test('no address is stored', async () => {
  const to = newAddress();
  await send(await createPaidSession(), to);
  const { rows } = await gateway.superuser.query<{ row: string }>(
    'SELECT receipt_mails::text AS row FROM receipt_mails',
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ row }) => row.includes('thandi') || row.includes('example'))).toEqual([]);
});

test('old rows are deleted while receipts are sent', async () => {
  await send(await createPaidSession(), newAddress());
  gateway.clock.advance(31 * 86_400_000);
  const before = gateway.clock.later(-30 * 86_400_000);
  const countOld = async (): Promise<number> =>
    Number(
      (
        await gateway.superuser.query<{ count: string }>('SELECT count(*) FROM receipt_mails WHERE sent_at < $1', [
          before,
        ])
      ).rows[0]?.count,
    );
  const old = await countOld();
  expect(old).toBeGreaterThan(0);
  await send(await createPaidSession(), newAddress());
  expect(await countOld()).toBe(Math.max(0, old - 2));
});

test('other bodies are refused, and without an SMTP server there is no form', async () => {
  const path = await createPaidSession();
  expect((await gateway.call('POST', `${path}/receipts`, { payload: { email: newAddress() } })).status).toBe(415);
  const off = await startGateway();
  try {
    const owner = await off.createMerchant();
    await off.respondToCharges(({ payable, reference }) => ({
      ok: true,
      reply: buildPayment(payable, { reference, version: 3 }),
    }));
    const sessionId = await off.createSession(owner);
    await off.call('POST', `/pay/${sessionId}/payments`, {
      payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' },
    });
    const page = await off.call('GET', `/pay?sessionId=${sessionId}`);
    expect(page.text).toContain('Payment successful');
    expect(page.text).not.toContain('/receipts');
    expect(page.headers['content-security-policy']).toContain("form-action 'none'");
    const response = await off.call('POST', `/pay/${sessionId}/receipts`, {
      headers: FORM,
      payload: 'email=a%40b.example',
    });
    expect(response.status).toBe(404);
  } finally {
    await off.stop();
  }
});
