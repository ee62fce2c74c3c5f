/** E-mails of payment requests, through a real SMTP server. */
import { randomUUID } from 'node:crypto';
import { CreatePaymentRequestV1, InvoiceCreatedV1, PayableClosedV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { anEvent, SmtpInbox, waitUntil } from '@svc/testing';
import {
  type Browser,
  CODES_URL,
  createMerchant,
  startConsole,
  type TestConsole,
  type TestMerchant,
} from '../../../test/console.js';
import { type NewRequestMail, RequestMailRepository } from './request-mail.repository.js';
import { SendRequestMail } from './send-request-mail.js';

let app: TestConsole;
let inbox: SmtpInbox;
let merchant: TestMerchant;
let owner: Browser;
/** Recipients that the server rejects, by the code of its response. */
const rejections = new Map<string, number>();
beforeAll(async () => {
  inbox = await SmtpInbox.start({
    onRcptTo: ({ address }, _session, callback) => {
      const responseCode = rejections.get(address);
      callback(responseCode === undefined ? null : Object.assign(new Error('No'), { responseCode }));
    },
  });
  app = await startConsole(undefined, { SVC_SMTP_URL: inbox.url, SVC_MAIL_FROM: 'payments@svc.example' });
  // The tests run each step of the job themselves.
  await app.service.app.get(SendRequestMail).onApplicationShutdown();
});
beforeEach(async () => {
  merchant = await createMerchant(app);
  owner = app.signIn([merchant.grant('owner')]);
  rejections.clear();
  inbox.mails.length = 0;
  await app.respondTo(CreatePaymentRequestV1, ({ idempotencyKey, expiresUTCDate }) => {
    void deliverRequest(idempotencyKey);
    return { ok: true, reply: { invoiceReference: idempotencyKey, code: CODE, expiresUTCDate } };
  });
});
afterAll(async () => {
  await app.stop();
  await inbox[Symbol.asyncDispose]();
});

const CODE = newOwnCode();
const LINK = `${CODES_URL}/c/${CODE}`;
const path = (rest = ''): string => `/${merchant.merchantId}/test/requests${rest}`;
const newAddress = (): string => `thandi-${randomUUID()}@example.com`;
async function deliverRequest(invoiceReference: string = randomUUID()): Promise<string> {
  const { merchantId, sites } = merchant;
  await app.deliver(
    anEvent(InvoiceCreatedV1, invoiceReference, 1, {
      payable: {
        ...{
          payableId: invoiceReference,
          merchantId,
          siteId: sites[0],
          mode: 'test',
          amount: 25_000,
          maxPayments: 100,
        },
        ...{ currencyISOCode: 'ZAR', expiresAt: '2026-03-08T22:00:00.000Z' },
        source: { kind: 'invoice', invoiceReference, siteReference: 'SITE-1', code: CODE },
      },
      origin: 'Console',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      lineItems: [{ name: 'Wedding cake', productCode: 'payment-request', unitPrice: '25000' }],
      requestedBy: randomUUID(),
    }),
  );
  return invoiceReference;
}
const create = (email: string, changes: Record<string, string> = {}) =>
  owner.post(path(), { amount: '250', description: 'Wedding cake', expiry: '7', key: randomUUID(), email, ...changes });
const send = (reference: string, email: string, key: string = randomUUID(), language = 'en') =>
  owner.post(path(`/${reference}/mails`), { email, key, language });
const mailsTo = (address: string) => inbox.mails.filter(({ envelope }) => envelope.to.includes(address));
const resultOf = (headers: Readonly<Record<string, unknown>>): string | null =>
  new URL(String(headers['location']), 'https://x.example').searchParams.get('mail');
const insertMail = (mail: NewRequestMail) =>
  inTransaction(
    app.dataSource,
    async (tx) => (await app.service.app.get(RequestMailRepository).insert(tx, mail)).state,
  );
const readStates = async (reference: string): Promise<string[]> => {
  const rows = await app.service.app
    .get(RequestMailRepository)
    .list({ merchantId: merchant.merchantId, mode: 'test', sites: 'all' }, reference);
  return rows.map(({ state }) => state);
};

test('the e-mail of a new request is optional, that of its page is not', async () => {
  const form = await owner.get(path('/new'));
  expect(form.text).toContain('E-mail of the customer (optional) Language of the e-mail');
  const page = await owner.get(path(`/${await deliverRequest()}`));
  expect(page.text).toContain('E-mail of the customer Language of the e-mail');
});

test('the customer gets the link with the request, in the chosen language, as text and HTML without tracking', async () => {
  const to = newAddress();
  const { headers } = await create(to, { language: 'af', order: 'CAKE-7' });
  expect(resultOf(headers)).toBe('sent');
  const { text, html, ...mail } = await inbox.waitForMail(to);
  expect(mail).toMatchObject({
    envelope: { from: 'payments@svc.example', to: [to] },
    from: { name: 'Karoo Books', address: 'payments@svc.example' },
    subject: '[Toets] Karoo Books vra dat jy R 250,00 betaal',
  });
  expect(text.trim().replaceAll('\u00a0', ' ')).toBe(
    [
      'Karoo Books vra dat jy R 250,00 betaal',
      'Dit is ’n toets: geen geld beweeg nie.',
      'Bedrag: R 250,00\nVir: Wedding cake\nBestelling: CAKE-7\nBetaalbaar tot die einde van: 2026-03-08',
      `Betaal nou: ${LINK}`,
      'Jy kry hierdie e-pos omdat Karoo Books jou adres ingevoer het. Moenie betaal as jy dit nie verwag nie.',
    ].join('\n\n'),
  );
  expect(html).toContain(`href="${LINK}"`);
  expect(html).not.toMatch(/<img|<script|<link/);
  expect([...html.matchAll(/https?:\/\/[^"<\s]+/g)].every(([url]) => url === LINK)).toBe(true);
  const page = await owner.get(String(headers['location']));
  expect(page.text).toContain('The request was created. The e-mail was sent.');
  expect(page.text).toContain('t…@example.com: sent');
  expect(page.html).not.toContain(to);
  const developer = await app.signIn([merchant.grant('developer')]).get(String(headers['location']));
  expect(developer.text).toContain('E-mails 2026-03-01');
  expect(developer.html).not.toContain('@example.com: ');
});

test('a form that is sent twice sends one mail, also at once; another press sends another', async () => {
  const [to, key] = [newAddress(), randomUUID()];
  await Promise.all([create(to, { key }), create(to, { key })]);
  await create(to, { key });
  await inbox.waitForMail(to);
  expect(mailsTo(to)).toHaveLength(1);
  const mailKey = randomUUID();
  for (let times = 0; times < 2; times++) expect(resultOf((await send(key, to, mailKey)).headers)).toBe('sent');
  expect(mailsTo(to)).toHaveLength(2);
  const audited = await app.dataSource.query<{ payload: object }[]>(
    `SELECT payload FROM event_log WHERE type = 'console.administered.v1' AND payload #>> '{after,invoiceReference}' = $1`,
    [key],
  );
  // One entry for each mail, with the person and without the address.
  const entry = {
    action: 'payment-request.mailed',
    actor: `person:${owner.person.personId}`,
    requestId: expect.any(String) as string,
    merchantId: merchant.merchantId,
    siteId: merchant.sites[0],
    after: { mode: 'test', invoiceReference: key },
  };
  expect(audited).toEqual([{ payload: entry }, { payload: entry }]);
});

test('a mail that the server does not accept at once is tried again, and after a crash too', async () => {
  const to = newAddress();
  rejections.set(to, 451);
  const reference = await deliverRequest();
  const { headers } = await send(reference, to);
  expect(resultOf(headers)).toBe('pending');
  expect((await owner.get(String(headers['location']))).text).toContain('The mail server is not available.');
  rejections.clear();
  const mails = app.service.app.get(SendRequestMail);
  await mails.runStep();
  expect(mailsTo(to)).toEqual([]);
  // The process that leases the mail ends before it sends it.
  app.clock.advance(60_000);
  await app.service.app.get(RequestMailRepository).claim(10);
  app.clock.advance(59_999);
  await mails.runStep();
  expect(mailsTo(to)).toEqual([]);
  app.clock.advance(1);
  await waitUntil('the mail was sent', 10_000, async () => {
    await mails.runStep();
    return mailsTo(to).length === 1 ? true : undefined;
  });
  await waitUntil('the mail has ended', 10_000, async () =>
    (await readStates(reference))[0] === 'sent' ? true : undefined,
  );
});

test('a mail fails after six attempts, and at once if the address does not exist', async () => {
  const [unknown, busy] = [newAddress(), newAddress()];
  rejections.set(unknown, 550).set(busy, 451);
  const reference = await deliverRequest();
  expect(resultOf((await send(reference, unknown)).headers)).toBe('rejected');
  app.clock.advance(1);
  expect(resultOf((await send(reference, busy)).headers)).toBe('pending');
  await waitUntil('the mail has failed', 10_000, async () => {
    app.clock.advance(32 * 60_000);
    await app.service.app.get(SendRequestMail).runStep();
    return (await readStates(reference))[0] === 'failed' ? true : undefined;
  });
  const [row] = await app.dataSource.query<{ attempts: number }[]>(
    'SELECT attempts FROM request_mails WHERE recipient = $1',
    [busy],
  );
  expect(row?.attempts).toBe(6);
});

test('a request that was cancelled meanwhile is not sent, and an ended one cannot be', async () => {
  const to = newAddress();
  rejections.set(to, 451);
  const reference = await deliverRequest();
  await send(reference, to);
  rejections.clear();
  const closed = { payableId: reference, state: 'closed' as const, version: 2, paymentCount: 0 };
  await app.deliver(anEvent(PayableClosedV1, reference, 2, closed));
  app.clock.advance(60_000);
  await app.service.app.get(SendRequestMail).runStep();
  await waitUntil('the mail has ended', 10_000, async () =>
    (await readStates(reference))[0] === 'dropped' ? true : undefined,
  );
  expect(mailsTo(to)).toEqual([]);
  const { status, text } = await send(reference, to);
  expect([status, text.includes('The request is not open any more')]).toEqual([409, true]);
});

test.each(['', 'nobody', `${'x'.repeat(250)}@example.com`, 'a@example.com\nBcc: b@example.com'])(
  'the address %j is refused',
  async (email) => {
    const { status, text } = await send(await deliverRequest(), email);
    expect([status, text.includes('The e-mail was not sent. Enter an e-mail address')]).toEqual([422, true]);
  },
);

test('a merchant sends at most 100 mails in an hour, 5 for one request and 10 to one address in a day', async () => {
  const insert = (changes: Partial<NewRequestMail> = {}) =>
    insertMail({
      ...{ mailId: randomUUID(), merchantId: merchant.merchantId, mode: 'test', siteId: merchant.sites[0] },
      ...{ invoiceReference: randomUUID(), recipient: newAddress(), language: 'en' },
      content: {
        ...{ merchantName: 'Karoo Books', amount: 1, currency: 'ZAR', description: 'x', orderReference: '' },
        ...{ lastDay: '2026-03-08', isTest: true, link: LINK },
      },
      // Never sent by the job of this test.
      expiresAt: app.clock.now(),
      ...changes,
    });
  const results = async (count: number, changes: () => Partial<NewRequestMail>) => {
    const all: string[] = [];
    for (let index = 0; index < count; index++) all.push(await insert(changes()));
    return [all.filter((result) => result === 'pending').length, all.at(-1)];
  };
  const invoiceReference = await deliverRequest();
  expect(await results(6, () => ({ invoiceReference }))).toEqual([5, 'limited']);
  const recipient = newAddress();
  expect(await results(11, () => ({ recipient: recipient.toUpperCase() }))).toEqual([10, 'limited']);
  app.clock.advance(3_600_000);
  expect(await insert({ recipient })).toBe('limited');
  expect(await results(101, () => ({}))).toEqual([100, 'limited']);
  const { headers } = await send(await deliverRequest(), newAddress());
  expect((await owner.get(String(headers['location']))).text).toContain(
    'a merchant can send 100 in an hour, 5 for one request and 10 to one address in a day.',
  );
  // Another merchant has limits of its own, and an hour later there is room again.
  expect(await insert({ merchantId: merchant.merchantId + 1_000_000 })).toBe('pending');
  app.clock.advance(3_600_000);
  expect(await insert()).toBe('pending');
});

test('rows of more than 40 days ago are deleted', async () => {
  const to = newAddress();
  await send(await deliverRequest(), to);
  app.clock.advance(40 * 86_400_000 + 1);
  const [{ count }] = await app.dataSource.query<[{ count: number }]>(
    'SELECT count(*)::int AS count FROM request_mails WHERE created_at < $1',
    [app.clock.later(-40 * 86_400_000)],
  );
  for (let times = 0; times < count; times++)
    await insertMail({
      ...{ mailId: randomUUID(), merchantId: 1, mode: 'test', siteId: 1, invoiceReference: randomUUID() },
      ...{ recipient: to, language: 'en', content: {} as never, expiresAt: app.clock.now() },
    });
  expect(
    await app.dataSource.query('SELECT 1 FROM request_mails WHERE created_at < $1', [
      app.clock.later(-40 * 86_400_000),
    ]),
  ).toEqual([]);
});
