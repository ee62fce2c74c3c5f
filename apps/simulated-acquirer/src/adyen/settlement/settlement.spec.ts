import { ACCOUNT, TestEmulator } from '../../../test/running-emulator.js';

let emulator: TestEmulator;
beforeEach(async () => {
  emulator = new TestEmulator();
  await emulator.start();
});
afterEach(async () => {
  expect(emulator.webhookProblems).toEqual([]);
  await emulator.stop();
});

const AUTHORIZATION = `Basic ${Buffer.from('report-user:report-password').toString('base64')}`;
const download = (url: string, authorization = AUTHORIZATION) => fetch(url, { headers: { authorization } });
const rand = (value: number) => ({ amount: { currency: 'ZAR', value } });

/** Closes the batch; the rows of its report, by column. */
const close = async (merchantAccount = ACCOUNT): Promise<Record<string, string>[]> => {
  const { body } = await emulator.control('POST', '/settlements', { merchantAccount });
  const [header, ...lines] = (await (await download(body.url!)).text()).trim().split('\n');
  const columns = header!.split(',');
  return lines.map((line) => {
    // Only the payout's reference contains a comma.
    const cells = line.replace(/"[^"]*"/, 'quoted').split(',');
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']));
  });
};
const cents = (text: string | undefined) => Math.round(Number(text || '0') * 100);
const typesOf = (rows: Record<string, string>[]) => rows.map((row) => row['Type']);

test('a closed batch is reported by REPORT_AVAILABLE, and its report has Adyen’s columns', async () => {
  const reference = emulator.newReference();
  const pspReference = await emulator.authorise({ reference });
  const capture = await emulator.modify(pspReference, 'captures', { ...rand(10000), reference: 'capture-1' });
  const closed = await emulator.control('POST', '/settlements', { merchantAccount: ACCOUNT });
  const fileName = 'settlement_detail_report_batch_1.csv';
  const url = `${emulator.url}/reports/download/MerchantAccount/${ACCOUNT}/${fileName}`;
  expect(closed.body).toEqual({ batch: 1, fileName, url });
  expect((await emulator.received('REPORT_AVAILABLE')).at(-1)).toMatchObject({
    merchantAccountCode: ACCOUNT,
    pspReference: fileName,
    reason: url,
    success: 'true',
  });
  const response = await download(url);
  expect(response.headers.get('content-type')).toContain('text/csv');
  expect((await response.text()).split('\n').slice(0, 4)).toEqual([
    'Company Account,Merchant Account,Psp Reference,Merchant Reference,Payment Method,Creation Date,TimeZone,Type,Modification Reference,Gross Currency,Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Markup (NC),Scheme Fees (NC),Interchange (NC),Payment Method Variant,Modification Merchant Reference,Batch Number,Reserved4,Reserved5,Reserved6,Reserved7,Reserved8,Reserved9,Reserved10',
    `SvcEmulatorCompany,${ACCOUNT},${pspReference},${reference},visa,2026-03-01 11:00:00,CET,Settled,${capture.body.pspReference},ZAR,,100.00,1,ZAR,,99.10,,0.30,0.10,0.50,visa,capture-1,1,,,,,,,`,
    `SvcEmulatorCompany,${ACCOUNT},,,,2026-03-01 11:00:00,CET,Fee,Transaction Fees 2026-03,,,,,ZAR,0.10,,,,,,,,1,,,,,,,`,
    `SvcEmulatorCompany,${ACCOUNT},,,,2026-03-01 11:00:00,CET,MerchantPayout,"batch 1, ${ACCOUNT}",,,,,ZAR,99.00,,,,,,,,1,,,,,,,`,
  ]);
});

test('refunds, failed refunds and disputes are lines, and the net columns add up to zero', async () => {
  const payment = await emulator.capture();
  const refund = await emulator.modify(payment, 'refunds', rand(345));
  await emulator.modify(payment, 'refunds', rand(1000));
  const disputed = await emulator.capture();
  const dispute = (eventCode: string) => emulator.control('POST', `/payments/${disputed}/disputes`, { eventCode });
  await dispute('CHARGEBACK');
  const rows = await close();
  expect(typesOf(rows)).toEqual(['Settled', 'Refunded', 'Refunded', 'Settled', 'Chargeback', 'Fee', 'MerchantPayout']);
  expect(rows[1]).toMatchObject({
    'Psp Reference': payment,
    'Modification Reference': refund.body.pspReference,
    'Gross Debit (GC)': '3.45',
    'Net Debit (NC)': '3.45',
  });
  expect(rows[4]).toMatchObject({
    'Gross Debit (GC)': '123.45',
    'Net Debit (NC)': '130.95',
    'Commission (NC)': '7.50',
  });
  const sum = rows.reduce((total, row) => total + cents(row['Net Credit (NC)']) - cents(row['Net Debit (NC)']), 0);
  expect(sum).toBe(0);

  await emulator.control('POST', `/refunds/${refund.body.pspReference}/failed`);
  await dispute('CHARGEBACK_REVERSED');
  await dispute('SECOND_CHARGEBACK');
  const next = await close();
  expect(typesOf(next)).toEqual(['RefundedReversed', 'ChargebackReversed', 'SecondChargeback', 'Balancetransfer']);
  expect(next.every((row) => row['Batch Number'] === '2')).toBe(true);
  expect(next[0]).toMatchObject({ 'Gross Credit (GC)': '3.45', 'Modification Reference': refund.body.pspReference });
});

test('a capture or refund that failed before its batch was closed is no line', async () => {
  const failed = await emulator.capture();
  await emulator.control('POST', `/payments/${failed}/capture-failed`);
  const payment = await emulator.capture();
  const refund = await emulator.modify(payment, 'refunds', rand(345));
  await emulator.control('POST', `/refunds/${refund.body.pspReference}/reversed`);
  expect(typesOf(await close())).toEqual(['Settled', 'Fee', 'MerchantPayout']);
  expect((await emulator.control('POST', `/payments/${payment}/capture-failed`)).status).toBe(409);
});

test('an automatic capture is a line whose modification reference is the payment', async () => {
  const pspReference = await emulator.authorise({ additionalData: {} });
  expect((await close())[0]).toMatchObject({ Type: 'Settled', 'Modification Reference': pspReference });
});

test('each merchant account and currency has its own payout', async () => {
  await emulator.capture();
  await emulator.authorise({ additionalData: {}, amount: { currency: 'EUR', value: 500 } });
  await emulator.authorise({ additionalData: {}, merchantAccount: 'OtherAccount' });
  const rows = await close();
  expect(rows.filter((row) => row['Type'] === 'MerchantPayout').map((row) => row['Net Currency'])).toEqual([
    'ZAR',
    'EUR',
  ]);
  expect((await close('OtherAccount')).map((row) => row['Batch Number'])).toEqual(['1', '1', '1']);
});

test('an empty batch has only its payout', async () => {
  expect(typesOf(await close())).toEqual([]);
});

test('summer time has another zone', async () => {
  emulator.advance(150 * 24 * 3_600_000);
  await emulator.capture();
  expect((await close())[0]).toMatchObject({ 'Creation Date': '2026-07-29 12:00:00', TimeZone: 'CEST' });
});

test('a report needs its user, and survives a restart', async () => {
  await emulator.capture();
  const { body } = await emulator.control('POST', '/settlements', { merchantAccount: ACCOUNT });
  const text = await (await download(body.url!)).text();
  await emulator.restart();
  const url = body.url!.replace(/^http:\/\/[^/]+/, emulator.url);
  expect(await (await download(url)).text()).toBe(text);
  expect((await fetch(url)).status).toBe(401);
  expect((await download(url, 'Basic eDp5')).status).toBe(401);
  expect((await download(url.replace('batch_1', 'batch_2'))).status).toBe(404);
  expect((await download(url.replace(ACCOUNT, 'OtherAccount'))).status).toBe(404);
  expect((await emulator.control('POST', '/settlements', { merchantAccount: 'Unknown' })).status).toBe(404);
});

test('faults of downloads: an error, and a report that breaks off', async () => {
  await emulator.capture();
  const { body } = await emulator.control('POST', '/settlements', { merchantAccount: ACCOUNT });
  await emulator.control('POST', '/faults', { type: 'status', operation: 'reports' });
  expect((await download(body.url!)).status).toBe(503);
  await emulator.control('POST', '/faults', { type: 'lose-response', operation: 'reports' });
  await expect(download(body.url!).then((response) => response.text())).rejects.toThrow('terminated');
});
