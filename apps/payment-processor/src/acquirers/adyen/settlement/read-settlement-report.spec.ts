import { waitUntil } from '@svc/testing';
import { stringify } from 'csv-stringify/sync';
import { ScriptedAdyen, type ScriptedResponse, SETTINGS } from '../../../../test/adyen/scripted-adyen.js';
import { type AnnouncedReport, type SettlementLine, SettlementReportError } from '../../settlement-line.js';
import { readSettlementReport } from './read-settlement-report.js';

const HEADER = [
  ...['Company Account', 'Merchant Account', 'Psp Reference', 'Merchant Reference', 'Type', 'Modification Reference'],
  ...['Gross Currency', 'Gross Debit (GC)', 'Gross Credit (GC)', 'Net Currency', 'Net Debit (NC)', 'Net Credit (NC)'],
  ...['Commission (NC)', 'Markup (NC)', 'Scheme Fees (NC)', 'Interchange (NC)', 'Modification Merchant Reference'],
  'Batch Number',
];
const row = (reference: string): string[] => [
  ...['Company', 'Shop', 'psp-1', reference, 'Settled', 'capture-1', 'ZAR', '', '5.00', 'ZAR', '', '5.00'],
  ...['', '', '', '', '', '1'],
];
const csvOf = (count: number): string =>
  stringify([HEADER, ...Array.from({ length: count }, (_, nth) => row(`a "quoted", reference ${nth}`))]);

let adyen: ScriptedAdyen;
beforeEach(async () => {
  adyen = await ScriptedAdyen.start();
});
afterEach(() => adyen.stop());

async function read(
  change: Partial<AnnouncedReport> = {},
  { maxBytes, signal = AbortSignal.timeout(10_000) }: { maxBytes?: number; signal?: AbortSignal } = {},
): Promise<SettlementLine[]> {
  const report: AnnouncedReport = {
    mode: 'test',
    acquirerReference: 'settlement_detail_report_batch_1.csv',
    url: `${new URL(adyen.url).origin}/reports/download/MerchantAccount/Shop/settlement_detail_report_batch_1.csv`,
    ...change,
  };
  const settings = report.mode === 'test' ? { ...SETTINGS, checkoutUrl: adyen.url } : undefined;
  const lines: SettlementLine[] = [];
  for await (const line of readSettlementReport(report, settings, signal, maxBytes)) lines.push(line);
  return lines;
}

test('a report is downloaded with the credential of reports only, and its lines are numbered', async () => {
  adyen.respondWith({ body: `\uFEFF${csvOf(2)}` });
  expect(await read()).toMatchObject([
    { lineNumber: 1, accountReference: 'Shop', paymentReference: 'a "quoted", reference 0', grossAmount: 500 },
    { lineNumber: 2, paymentReference: 'a "quoted", reference 1' },
  ]);
  const [request] = adyen.requests;
  expect([request!.method, request!.path]).toEqual([
    'GET',
    '/reports/download/MerchantAccount/Shop/settlement_detail_report_batch_1.csv',
  ]);
  const credential = Buffer.from(`${SETTINGS.reportUser}:${SETTINGS.reportPassword}`).toString('base64');
  expect(request!.headers).toMatchObject({ authorization: `Basic ${credential}` });
  expect(request!.headers).not.toHaveProperty('x-api-key');
});

test('a report without lines is read', async () => {
  adyen.respondWith({ body: csvOf(0) });
  expect(await read()).toEqual([]);
});

test.each([
  ['https://evil.example/settlement_detail_report_batch_1.csv'],
  ['https://ca-test.adyen.com.evil.example/x.csv'],
  ['https://user@ca-test.adyen.com/x.csv'],
  ['http://ca-test.adyen.com/x.csv'],
  ['file:///etc/passwd'],
])('the host of %s is refused', async (url) => {
  await expect(read({ url })).rejects.toThrow('The URL is not a URL of Adyen in this mode.');
  expect(adyen.requests).toEqual([]);
});

test('a mode without settings is refused', async () => {
  await expect(read({ mode: 'live' })).rejects.toThrow('The mode has no settings.');
  expect(adyen.requests).toEqual([]);
});

test.each<[string, ScriptedResponse]>([
  ['status 401', { status: 401 }],
  ['status 404', { status: 404, body: csvOf(1) }],
  ['status 302', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ['status 503', { status: 503 }],
  ['status 204', { status: 204 }],
  ['The report is empty.', { body: '' }],
  ['The report has no column Type', { body: stringify([HEADER.map((name) => (name === 'Type' ? 'Kind' : name))]) }],
  ['The report has no column', { body: '<html>Please log in</html>' }],
  ['CSV_RECORD_INCONSISTENT', { body: `${csvOf(1)}1,2\n` }],
  ['CSV_QUOTE_NOT_CLOSED', { body: `${csvOf(1)}"abc` }],
  ['CSV_MAX_RECORD_SIZE', { body: `${csvOf(1)}${'x'.repeat(20_000)}` }],
])('a report that cannot be read: %s', async (problem, response) => {
  adyen.respondWith(response);
  const reading = read();
  await expect(reading).rejects.toThrow(problem);
  await expect(reading).rejects.toBeInstanceOf(SettlementReportError);
});

test('an endless report ends at the limit of its size, after its first lines', async () => {
  let isClosed = false;
  adyen.respondWith((response) => {
    response.writeHead(200).write(csvOf(1));
    const line = stringify([row('x')]);
    const send = (): void => {
      while (!response.destroyed && response.write(line.repeat(100)));
    };
    response.on('drain', send).on('close', () => (isClosed = true));
    send();
  });
  await expect(read({}, { maxBytes: 1_000_000 })).rejects.toThrow('The report has more than 1000000 bytes.');
  await waitUntil('the connection to be closed', 5_000, () => Promise.resolve(isClosed));
});

test('a report that breaks off is an error, also at the end of a line', async () => {
  adyen.respondWith((response, request) => {
    response.writeHead(200, { 'content-length': 1_000_000 }).write(csvOf(3), () => request.socket.destroy());
  });
  await expect(read()).rejects.toThrow('aborted');
});

test('a download that takes too long is aborted', async () => {
  adyen.respondWith((response) => void response.writeHead(200).write(csvOf(3)));
  await expect(read({}, { signal: AbortSignal.timeout(300) })).rejects.toThrow(/abort/i);
  adyen.respondWith(() => undefined);
  await expect(read({}, { signal: AbortSignal.timeout(300) })).rejects.toThrow(/abort/i);
});
