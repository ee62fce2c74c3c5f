/** What our page for the data of a payer's browser shows, stores and accepts. */
import { createHash } from 'node:crypto';
import { pickSecurityHeaders, SERVICE_SECURITY_HEADERS } from '@svc/testing';
import {
  BROWSER,
  BrowserPayer,
  CHALLENGED,
  FRICTIONLESS,
  PAYER_ADDRESS,
  USER_AGENT,
} from '../../test/adyen/browser-payer.js';
import { changeRow } from '../../test/attempts/open-attempt.js';
import type { Processor } from '../../test/processor.js';
import { BankReturnUrls } from '../payer-urls/bank-return-urls.js';
import { BrowserDataUrls } from '../payer-urls/browser-data-urls.js';

let payer: BrowserPayer;
let processor: Processor;
beforeAll(async () => {
  payer = await BrowserPayer.start();
  ({ processor } = payer);
});
beforeEach(async () => {
  await payer.useNewToken();
  await payer.useNewInvoice();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => payer.stop());

test('the page has a strict content security policy with the hashes of its script and style', async () => {
  const { body, headers } = await payer.open((await payer.pay(FRICTIONLESS)).verificationUrl);
  const hashOf = (tag: string): string => {
    const [, text = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(body) ?? [];
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  expect(pickSecurityHeaders(headers)).toEqual({
    ...SERVICE_SECURITY_HEADERS,
    'content-security-policy': `default-src 'none'; script-src ${hashOf('script')}; style-src ${hashOf('style')}; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
  });
});

describe('a URL that this service has not made', () => {
  const changed = (url: string, change: (url: URL) => void): string => {
    const parsed = new URL(url);
    change(parsed);
    return parsed.href;
  };

  test.each<[string, (url: string, other: string) => string]>([
    ['without a signature', (url) => changed(url, ({ searchParams }) => searchParams.delete('signature'))],
    ['with a shorter signature', (url) => url.slice(0, -1)],
    ['with two signatures', (url) => `${url}&signature=x`],
    [
      'with the signature of another payment',
      (url, other) => changed(url, (to) => (to.search = new URL(other).search)),
    ],
    ['with a malformed reference', (url) => changed(url, (to) => (to.pathname = '/v1/verifications/x/start'))],
  ])('%s shows and charges nothing', async (_, forge) => {
    const other = await payer.pay(FRICTIONLESS);
    const payment = await payer.pay(FRICTIONLESS);
    const url = forge(payment.verificationUrl, other.verificationUrl);
    for (const response of [await payer.open(url), await payer.open(url, { browser: JSON.stringify(BROWSER) })])
      expect([response.status, response.body.includes('Karoo Books')]).toEqual([404, false]);
    expect(await payer.readAttempts(payment)).toEqual([]);
  });

  test('of the bank’s return does not open our page, and the signature of our page delivers no result', async () => {
    const { paymentReference, verificationUrl } = await payer.pay(CHALLENGED);
    const bankReturn = new URL(processor.service.app.get(BankReturnUrls).build(paymentReference, undefined));
    expect((await payer.open(verificationUrl.replace(/\?.*/, bankReturn.search))).status).toBe(404);
    await payer.press({ verificationUrl });
    const forged = `https://api.svc.example/v1/verifications/${paymentReference}${new URL(verificationUrl).search}`;
    await payer.open(`${forged}&redirectResult=planted`);
    const rows = await processor.dataSource.query<unknown[]>(`SELECT 1 FROM verifications WHERE result = 'planted'`);
    expect(rows).toEqual([]);
  });

  test('of a payment that our page does not serve is not found', async () => {
    const { paymentReference } = await payer.pay(FRICTIONLESS);
    await changeRow(
      processor,
      `UPDATE verifications SET card_token = NULL, challenge_reference = 'c'
        WHERE payment_id = (SELECT payment_id FROM payments WHERE payment_reference = $1)`,
      paymentReference,
    );
    expect((await payer.open(processor.service.app.get(BrowserDataUrls).build(paymentReference))).status).toBe(404);
  });
});

test('neither the card nor the payer’s browser and address are stored', async () => {
  const payment = await payer.pay(CHALLENGED);
  await payer.open(await payer.answerBank((await payer.press(payment)).location, 'pass'));
  await processor.runCleanup();
  expect(await payer.outcome()).toBe('success');
  const tables = await processor.dataSource.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
  );
  const found: string[] = [];
  for (const text of [CHALLENGED.cardNumber, USER_AGENT, PAYER_ADDRESS, BROWSER.language])
    for (const { name } of tables) {
      const rows = await processor.dataSource.query<unknown[]>(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [text],
      );
      if (rows.length > 0) found.push(`${text} in ${name}`);
    }
  expect(found).toEqual([]);
});

test('a form that is larger than the data of a browser is rejected', async () => {
  const { verificationUrl } = await payer.pay(FRICTIONLESS);
  expect((await payer.open(verificationUrl, { browser: 'x'.repeat(5_000) })).status).toBe(413);
});
