import fc from 'fast-check';
import type { Movement } from './settlement.repository.js';
import { CSV_HEADER, formatCsvLines } from './settlement-csv.js';

const movement: Movement = {
  createdUTCDate: '2026-03-01T10:00:00.000Z',
  type: 'payment',
  svcId: '1VQ5K3P0ABCDEFGHJK',
  refundReference: '',
  siteId: 5001,
  externalReference: 'order-1',
  currencyISOCode: 'ZAR',
  amount: 12_345,
};

const lineWith = (externalReference: string): string => formatCsvLines([{ ...movement, externalReference }]);

test('a CSV file contains the column names and a line for each movement, with quoted texts and amounts in cents', () => {
  expect(CSV_HEADER).toBe(
    '"createdUTCDate","type","svcId","refundReference","siteId","externalReference","currencyISOCode","amount"\r\n',
  );
  const refund = { ...movement, type: 'refund', refundReference: 'r-1', amount: -345 } as const;
  expect(formatCsvLines([movement, refund])).toBe(
    '"2026-03-01T10:00:00.000Z","payment","1VQ5K3P0ABCDEFGHJK","",5001,"order-1","ZAR",12345\r\n' +
      '"2026-03-01T10:00:00.000Z","refund","1VQ5K3P0ABCDEFGHJK","r-1",5001,"order-1","ZAR",-345\r\n',
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
    `"2026-03-01T10:00:00.000Z","payment","1VQ5K3P0ABCDEFGHJK","",5001,${field},"ZAR",12345\r\n`,
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
      expect(line.replaceAll(/"(?:[^"]|"")*"/g, '')).toBe(',,,,5001,,,12345\r\n');
      const cell = texts[4]!.slice(1, -1).replaceAll('""', '"');
      expect([reference, `'${reference}`]).toContain(cell);
      expect(cell.replace(/^[\s\u200b\u200e\u2060]+/, '')).not.toMatch(/^[=+\-@＝＋－＠]/);
    }),
  );
});
