import type { SettlementMovement } from '@svc/contracts';
import { LocalCalendar } from '@svc/kernel';
import fc from 'fast-check';
import { formatCsvHeader, formatCsvLines } from './settlement-csv.js';

const CALENDAR = new LocalCalendar([{ zone: 'Asia/Kathmandu' }]);

const movement: SettlementMovement = {
  createdUTCDate: '2026-03-01T18:20:05.000Z',
  type: 'payment',
  svcId: '1VQ5K3P0ABCDEFGHJK',
  refundReference: '',
  disputeReference: '',
  siteId: 5001,
  externalReference: 'order-1',
  currencyISOCode: 'ZAR',
  amount: 12_345,
};

const lineWith = (externalReference: string): string => formatCsvLines([{ ...movement, externalReference }], CALENDAR);
const LOCAL = '"2026-03-02","2026-03-02","00:05:05","Asia/Kathmandu","2026-03-01T18:20:05.000Z"';

test('a CSV file contains the column names and a line for each movement, with quoted texts, local and UTC time, and amounts in cents and as decimal numbers', () => {
  const header =
    '"day","localDate","localTime","timeZone","createdUTCDate","type","svcId","refundReference","disputeReference",' +
    '"siteId","externalReference","currencyISOCode","amountDecimal","amountCents"\r\n';
  expect(formatCsvHeader({ hasByteOrderMark: false })).toBe(header);
  expect(formatCsvHeader({ hasByteOrderMark: true })).toBe(`\ufeff${header}`);
  const refund = { ...movement, type: 'refund', refundReference: 'r-1', amount: -345 } as const;
  const dispute = { ...movement, type: 'dispute', disputeReference: 'd-1', amount: -12_000 } as const;
  expect(formatCsvLines([movement, refund, dispute], CALENDAR)).toBe(
    `${LOCAL},"payment","1VQ5K3P0ABCDEFGHJK","","",5001,"order-1","ZAR",123.45,12345\r\n` +
      `${LOCAL},"refund","1VQ5K3P0ABCDEFGHJK","r-1","",5001,"order-1","ZAR",-3.45,-345\r\n` +
      `${LOCAL},"dispute","1VQ5K3P0ABCDEFGHJK","","d-1",5001,"order-1","ZAR",-120.00,-12000\r\n`,
  );
});

test.each([
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+27', `"'+27"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['＝1', `"'＝1"`],
  ['＋1', `"'＋1"`],
  ['－1', `"'－1"`],
  ['＠1', `"'＠1"`],
  [' \t\r\n=1', `"' \t\r\n=1"`],
  ['\u00a0=1', `"'\u00a0=1"`],
  ['\u200b\u200d\u2060\ufeff=1', `"'\u200b\u200d\u2060\ufeff=1"`],
  ['x;=1+1;y', `"x;=1+1;y"`],
  ['a,b "c"', `"a,b ""c"""`],
  ['order=1', `"order=1"`],
  ['', `""`],
])('the external reference %j is written as the text %j, which a spreadsheet does not evaluate', (reference, field) => {
  expect(lineWith(reference)).toBe(
    `${LOCAL},"payment","1VQ5K3P0ABCDEFGHJK","","",5001,${field},"ZAR",123.45,12345\r\n`,
  );
});

test('every reference is one quoted text that is no formula, and a reader gets it back', () => {
  const skipped = fc.constantFrom(' ', '\t', '\r', '\n', '\u00a0', '\u200b', '\u200e', '\u2060', '\u3000', '\ufeff');
  const sign = fc.constantFrom('=', '+', '-', '@', '＝', '＋', '－', '＠', ';', ',', '"', "'", 'x');
  const text = fc
    .tuple(fc.array(skipped, { maxLength: 3 }), sign, fc.string({ unit: 'binary', maxLength: 10 }))
    .map(([before, first, rest]) => `${before.join('')}${first}${rest}`);
  fc.assert(
    fc.property(text, (reference) => {
      const line = lineWith(reference);
      // All quotation marks of the line are around texts, or doubled.
      const texts = line.match(/"(?:[^"]|"")*"/g)!;
      expect(line.replaceAll(/"(?:[^"]|"")*"/g, '')).toBe(',,,,,,,,,5001,,,123.45,12345\r\n');
      const cell = texts[9]!.slice(1, -1).replaceAll('""', '"');
      expect([reference, `'${reference}`]).toContain(cell);
      expect(cell.replace(/^[\s\u200b\u200e\u2060]+/, '')).not.toMatch(/^[=+\-@＝＋－＠]/);
    }),
  );
});

test.each([
  [0, '0.00'],
  [5, '0.05'],
  [-44, '-0.44'],
  [100, '1.00'],
  [-100_000_000_000, '-1000000000.00'],
  [Number.MAX_SAFE_INTEGER, '90071992547409.91'],
])('%d cents are written as the number %s', (amount, decimal) => {
  expect(
    formatCsvLines([{ ...movement, amount }], CALENDAR)
      .trimEnd()
      .split(',')
      .slice(-2),
  ).toEqual([...[decimal, String(amount)]]);
});

test('a reference in any script is written as UTF-8 text', () => {
  const reference = 'Café Ndlovu · 北京 · 🧾';
  expect(lineWith(reference)).toContain(`,"${reference}",`);
});
