/** Payment requests (D7) in the console. code-decoder is a responder; its events fill the list. */
import { randomUUID } from 'node:crypto';
import {
  type CancelPaymentRequest,
  CancelPaymentRequestV1,
  type CreatePaymentRequest,
  CreatePaymentRequestV1,
  ERROR_CATALOGUE,
  type ErrorCode,
  InvoiceCreatedV1,
  PayableClosedV1,
  type PaymentSnapshot,
} from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent, planOf } from '@svc/testing';
import {
  type Browser,
  CODES_URL,
  createMerchant,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
} from '../../test/console.js';
import {
  closeRequest,
  deliverRequest as deliverRequestOf,
  newRequestPayment,
  type RequestChanges,
} from '../../test/requests.js';
import { READ_MODEL } from '../read-model/read-model.js';
import { listRequests, searchUnpaidRequests } from './list-requests.query.js';

let app: TestConsole;
let merchant: TestMerchant;
let owner: Browser;
let created: CreatePaymentRequest[];
let cancelled: CancelPaymentRequest[];
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
  owner = app.signIn([merchant.grant('owner')]);
  [created, cancelled] = [[], []];
  await app.respondTo(CreatePaymentRequestV1, (request) => {
    created.push(request);
    const reply = {
      invoiceReference: request.idempotencyKey,
      code: newOwnCode(),
      expiresUTCDate: request.expiresUTCDate,
    };
    void deliverRequest({ invoiceReference: reply.invoiceReference, amount: request.amount, siteId: request.siteId });
    return { ok: true, reply };
  });
  await app.respondTo(CancelPaymentRequestV1, (request) => {
    cancelled.push(request);
    void close(request.invoiceReference);
    return { ok: true, reply: { cancelled: true } };
  });
});

const path = (rest = '', mode = 'test'): string => `/${merchant.merchantId}/${mode}/requests${rest}`;
const refuse = (code: ErrorCode) => () =>
  ({ ok: false, code, message: ERROR_CATALOGUE[code].message, fields: [] }) as const;

const deliverRequest = (changes: RequestChanges = {}): Promise<string> => deliverRequestOf(app, merchant, changes);
const close = (payableId: string): Promise<void> => closeRequest(app, payableId);
const payRequest = (invoiceReference: string, changes: Partial<PaymentSnapshot> = {}): PaymentSnapshot =>
  newRequestPayment(merchant, invoiceReference, changes);
const form = (changes: Record<string, string> = {}): Record<string, string> => ({
  site: String(merchant.sites[0]),
  amount: '250',
  description: 'Wedding cake',
  expiry: '7',
  key: randomUUID(),
  ...changes,
});

describe('a new request', () => {
  test('is created with the fields of the form, and its page has the link and the QR code', async () => {
    const key = randomUUID();
    const sent = form({ key, order: 'CAKE-7', site: String(merchant.sites[1]), amount: 'R 1 250,50' });
    const { status, headers } = await owner.post(path(), sent);
    expect([status, headers['location']]).toEqual([303, path(`/${key}?done=created`)]);
    expect(created).toEqual([
      {
        merchantId: merchant.merchantId,
        siteId: merchant.sites[1],
        mode: 'test',
        amount: 125_050,
        description: 'Wedding cake',
        externalReference: 'CAKE-7',
        // The end of 8 March in Johannesburg.
        expiresUTCDate: '2026-03-08T22:00:00.000Z',
        idempotencyKey: key,
        personId: owner.person.personId,
        requestId: expect.any(String) as string,
      },
    ]);
    const page = await owner.get(String(headers['location']));
    expect(page.text).toContain('Request for R 1 250.50 The request was created.');
    expect(page.text).toContain(
      'State Open Amount R 1 250.50 Description Wedding cake Order CAKE-7 Site Shop 2 Created 2026-03-01 12:00 Payable until 2026-03-08, end of the day',
    );
    expect(page.html).toContain('aria-label="QR code that opens the payment page"');
    expect(page.html).toMatch(new RegExp(`href="${CODES_URL}/c/\\d{20}"`));
    // Without an SMTP server the page offers no e-mail.
    expect(page.html).not.toContain('name="email"');
    expect((await owner.get(path('/new'))).html).not.toContain('name="email"');
  });

  test.each([
    [{ expiry: '1' }, '2026-03-02T22:00:00.000Z'],
    [{ expiry: '30' }, '2026-03-31T22:00:00.000Z'],
    [{ expiry: 'date', until: '2026-03-01' }, '2026-03-01T22:00:00.000Z'],
    [{ expiry: 'date', until: '2026-03-31' }, '2026-03-31T22:00:00.000Z'],
  ])('with the choice %j can be paid until %s', async (choice, expiresUTCDate) => {
    expect((await owner.post(path(), form(choice))).status).toBe(303);
    expect(created).toMatchObject([{ expiresUTCDate }]);
  });

  test.each([
    [{ amount: '' }, 'Enter an amount in Rand'],
    [{ amount: '0' }, 'Enter an amount in Rand'],
    [{ amount: '1000000000.01' }, 'Enter an amount in Rand'],
    [{ description: ' ' }, 'Enter a description'],
    [{ description: 'x'.repeat(201) }, 'Enter a description'],
    [{ order: 'x'.repeat(101) }, 'Enter an order number'],
    [{ expiry: 'date', until: '2026-02-28' }, 'Choose a day from today to 2026-03-31.'],
    [{ expiry: 'date', until: '2026-04-01' }, 'Choose a day from today to 2026-03-31.'],
    [{ expiry: '8' }, 'Choose a day from today to 2026-03-31.'],
    [{ email: 'nobody' }, 'Enter an e-mail address'],
    [{ site: '1' }, 'Choose a site.'],
  ])('with %j is refused beside the form, which keeps its values and its key', async (changes, message) => {
    const sent = form(changes);
    const { status, text, html } = await owner.post(path(), sent);
    expect([status, created]).toEqual([422, []]);
    expect(text).toContain(message);
    expect(html).toContain(`name="key" value="${sent['key']}"`);
  });

  test.each<[ErrorCode, string]>([
    ['resource.conflict', 'Another open request or invoice has this order number.'],
    ['request.idempotency-conflict', 'This form was sent before with other values.'],
  ])('that code-decoder refuses with %s has a sentence beside the form', async (code, message) => {
    await app.respondTo(CreatePaymentRequestV1, refuse(code));
    const { status, text } = await owner.post(path(), form());
    expect([status, text.includes(message)]).toEqual([409, true]);
  });

  test('of a person of one site is for this site only', async () => {
    const support = app.signIn([merchant.grant('support', merchant.sites[1])]);
    expect((await support.get(path('/new'))).html).toContain(`name="site" value="${merchant.sites[1]}"`);
    expect((await support.post(path(), form({ site: String(merchant.sites[0]) }))).status).toBe(422);
    expect(created).toEqual([]);
    expect((await support.post(path(), form({ site: '' }))).status).toBe(303);
    expect(created).toMatchObject([{ siteId: merchant.sites[1] }]);
  });
});

describe('the list', () => {
  test('shows the requests of the mode, the newest first, with their states; invoices of tills are not in it', async () => {
    const at = (hour: number) => `2026-02-2${hour}T10:00:00.000Z`;
    await deliverRequest({ description: 'Open', createdUTCDate: at(8) });
    const paid = await deliverRequest({ description: 'Paid', createdUTCDate: at(7) });
    const closed = randomUUID();
    // Events come in any order, and twice.
    await close(closed);
    await close(closed);
    for (let times = 0; times < 2; times++)
      await deliverRequest({ invoiceReference: closed, description: 'Cancelled', createdUTCDate: at(6) });
    await deliverRequest({ description: 'Expired', createdUTCDate: at(5), expiresAt: '2026-02-28T22:00:00.000Z' });
    const refused = await deliverRequest({ description: 'Refused', createdUTCDate: at(4) });
    await deliverRequest({ description: 'Live', mode: 'live' });
    const till = { ...payRequest(randomUUID()) };
    await store(app, payRequest(paid), till);
    await store(
      app,
      payRequest(refused, {
        state: 'failed',
        payable: { payableId: refused, state: 'refused', version: 201, paymentCount: 100 },
      }),
    );
    const { text, html } = await owner.get(path());
    const rows = [...html.matchAll(/class="order"[^>]*>([^<]+)</g)].map(([, name]) => name);
    expect(rows).toEqual(['Open', 'Paid', 'Cancelled', 'Expired', 'Refused']);
    expect(text).toContain('2026-02-28 12:00 Open CAKE-7 Shop 1 Open 2026-03-08 Payment page : Open R 250.00');
    expect(text).toContain('Paid CAKE-7 Shop 1 Paid 2026-03-08 R 250.00');
    expect(text).toContain('Cancelled CAKE-7 Shop 1 Cancelled 2026-03-08 R 250.00');
    expect(text).toContain('Expired CAKE-7 Shop 1 Expired 2026-02-28 R 250.00');
    expect(text).toContain('Refused CAKE-7 Shop 1 Closed after too many failed payments 2026-03-08 R 250.00');
    expect((await owner.get(path('', 'live'))).text).toContain('Live CAKE-7');
  });

  test('of an invoice that a till created is empty', async () => {
    const invoiceReference = randomUUID();
    await app.deliver(
      anEvent(InvoiceCreatedV1, invoiceReference, 1, {
        payable: {
          ...{ payableId: invoiceReference, merchantId: merchant.merchantId, siteId: merchant.sites[0], mode: 'test' },
          ...{ amount: 1, currencyISOCode: 'ZAR', expiresAt: '2026-03-08T22:00:00.000Z', maxPayments: 100 },
          source: { kind: 'invoice', invoiceReference, siteReference: 'SITE-1', code: newOwnCode() },
        },
        origin: 'Console',
        createdUTCDate: '2026-03-01T10:00:00.000Z',
      }),
    );
    expect((await owner.get(path())).text).toContain('No payment requests yet. Request a payment');
    expect((await owner.get(path(`/${invoiceReference}`))).status).toBe(404);
  });

  test('has 50 requests on a page, and every page continues the one before', async () => {
    for (let index = 0; index < 51; index++)
      await deliverRequest({
        createdUTCDate: new Date(Date.parse('2026-02-01T00:00:00Z') + (index >> 1)).toISOString(),
      });
    const first = await owner.get(path());
    const older = /href="([^"]*\?after=[^"]*)"/.exec(first.html)?.[1];
    const second = await owner.get(older!);
    const ids = [first, second].map(({ html }) =>
      [...html.matchAll(/class="order" href="([^"]+)"/g)].map(([, id]) => id),
    );
    expect(ids.map(({ length }) => length)).toEqual([50, 1]);
    expect(new Set(ids.flat()).size).toBe(51);
    expect(second.html).not.toContain('data-live');
  });

  test('of a person of one site has no request of another site, and its page does not exist', async () => {
    const reference = await deliverRequest({ siteId: merchant.sites[1] });
    const other = app.signIn([merchant.grant('owner', merchant.sites[0])]);
    expect((await other.get(path())).text).not.toContain('Wedding cake');
    for (const send of [() => other.get(path(`/${reference}`)), () => other.post(path(`/${reference}/cancel`))])
      expect((await send()).status).toBe(404);
    expect(cancelled).toEqual([]);
  });

  test('is of one merchant and mode: elsewhere a request does not exist', async () => {
    const reference = await deliverRequest();
    const stranger = await createMerchant(app);
    const foreign = app.signIn([stranger.grant('owner')]);
    expect((await foreign.get(`/${stranger.merchantId}/test/requests/${reference}`)).status).toBe(404);
    expect((await foreign.get(`/${stranger.merchantId}/test/requests`)).text).not.toContain('Wedding cake');
    expect((await owner.get(path(`/${reference}`, 'live'))).status).toBe(404);
    expect((await owner.post(path(`/${reference}/cancel`, 'live'))).status).toBe(404);
  });
});

describe('the page of a request', () => {
  test('after the payment has the payment, and neither a link nor a QR code', async () => {
    const reference = await deliverRequest();
    const payment = payRequest(reference);
    await store(app, payment);
    const { text, html } = await owner.get(path(`/${reference}`));
    expect(text).toContain(`State Paid Amount R 250.00`);
    expect(html).toContain(`href="/${merchant.merchantId}/test/payments/${payment.paymentReference}"`);
    expect(html).not.toContain(CODES_URL);
    expect(html).not.toContain('<form method="post" action="/' + String(merchant.merchantId));
  });

  test('lets a developer look, and not change', async () => {
    const reference = await deliverRequest();
    const developer = app.signIn([merchant.grant('developer')]);
    const { html } = await developer.get(path(`/${reference}`));
    expect(html).toContain(CODES_URL);
    expect(html).not.toContain('/cancel');
    expect((await developer.get(path())).html).not.toContain('/requests/new');
    expect((await developer.post(path(`/${reference}/cancel`))).status).toBe(403);
  });

  test('is in Afrikaans for people who chose it', async () => {
    const reference = await deliverRequest();
    const afrikaans = await owner.get(path(`/${reference}`), { 'accept-language': 'af' });
    expect(afrikaans.text).toContain('Versoek om R 250,00');
  });
});

describe('a cancellation', () => {
  test('is a command with the person, and the page shows it', async () => {
    const reference = await deliverRequest();
    const { status, headers } = await owner.post(path(`/${reference}/cancel`));
    expect([status, headers['location']]).toEqual([303, path(`/${reference}?done=cancelled`)]);
    expect(cancelled).toEqual([
      {
        merchantId: merchant.merchantId,
        siteId: merchant.sites[0],
        mode: 'test',
        invoiceReference: reference,
        personId: owner.person.personId,
        requestId: expect.any(String) as string,
      },
    ]);
    const { text, html } = await owner.get(String(headers['location']));
    expect(text).toContain('The request was cancelled. State Cancelled');
    expect(html).not.toContain('/cancel"');
  });

  test.each<[ErrorCode, string]>([
    ['payable.paid', 'The request is paid, so it cannot be cancelled.'],
    ['payment.in-progress', 'A payment is in progress.'],
  ])('that is refused with %s has a sentence', async (code, message) => {
    await app.respondTo(CancelPaymentRequestV1, refuse(code));
    const { status, text } = await owner.post(path(`/${await deliverRequest()}/cancel`));
    expect([status, text.includes(message)]).toEqual([409, true]);
  });
});

test('a rebuild fills the copy that is being built, too', async () => {
  await app.dataSource.query(`INSERT INTO generations (generation, state, begun_at) VALUES (2, 'building', now())`);
  const reference = await deliverRequest();
  await close(reference);
  for (const [table, id] of [
    ['payment_requests', 'invoice_reference'],
    ['ended_payables', 'payable_id'],
  ] as const)
    expect(
      await app.dataSource.query(`SELECT generation FROM ${table} WHERE ${id} = $1 ORDER BY generation`, [reference]),
    ).toEqual([{ generation: 1 }, { generation: 2 }]);
  await app.dataSource.query('DELETE FROM generations WHERE generation = 2');
  expect(READ_MODEL.types).toEqual(expect.arrayContaining([InvoiceCreatedV1, PayableClosedV1]));
});

test.each([
  ['all sites', 'all' as const, 'payment_requests_newest'],
  ['one site', [1], 'payment_requests_of_site'],
])('a page of the list of %s reads one range of an index', async (_, sites, index) => {
  const plan = await planOf(app.dataSource, () =>
    listRequests(app.dataSource, { merchantId: 1, mode: 'test', sites }, undefined, 51),
  );
  expect(plan).toMatch(new RegExp(`Index Scan using ${index} on payment_requests`));
  expect(plan).toMatch(/using payments_of_payable on payments/);
  expect(plan).not.toMatch(/Seq Scan on (payment|ended|request)|Sort Key: r\./);
  const terms = { text: 'a', orderBeginning: 'abc', amountCents: 1 };
  const searched = await planOf(app.dataSource, () =>
    searchUnpaidRequests(app.dataSource, { merchantId: 1, mode: 'test', sites }, terms, 20),
  );
  expect(searched).toMatch(new RegExp(`Limit [^]*Index Scan using ${index} on payment_requests`));
  expect(searched).not.toMatch(/Seq Scan on (payment|ended|request)/);
});
