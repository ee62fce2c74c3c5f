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

test('a CSV file contains the column names and a line for each movement, with amounts in cents', () => {
  expect(CSV_HEADER).toBe(
    'createdUTCDate,type,svcId,refundReference,siteId,externalReference,currencyISOCode,amount\r\n',
  );
  const refund = { ...movement, type: 'refund', refundReference: 'r-1', amount: -345 } as const;
  expect(formatCsvLines([movement, refund])).toBe(
    '2026-03-01T10:00:00.000Z,payment,1VQ5K3P0ABCDEFGHJK,,5001,order-1,ZAR,12345\r\n' +
      '2026-03-01T10:00:00.000Z,refund,1VQ5K3P0ABCDEFGHJK,r-1,5001,order-1,ZAR,-345\r\n',
  );
});

test.each([
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+27', `'+27`],
  ['-1', `'-1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['a,b "c"', `"a,b ""c"""`],
])(
  'the external reference %s is written as the text %s, which a spreadsheet does not evaluate as a formula',
  (externalReference, field) => {
    expect(formatCsvLines([{ ...movement, externalReference }])).toBe(
      `2026-03-01T10:00:00.000Z,payment,1VQ5K3P0ABCDEFGHJK,,5001,${field},ZAR,12345\r\n`,
    );
  },
);
