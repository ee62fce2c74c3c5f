import { DomainError } from '@svc/kernel';
import { linkToNextPage, parseSearch } from './payment-search.js';

const LAST = { paymentUTCDate: new Date('2026-03-02T10:00:00.123Z'), paymentReference: '1MT83H0DZX37GHR05K' };
const query = (parameters: Record<string, unknown> = {}) => ({
  ...{ orderId: 'A-7', from: undefined, to: undefined, after: undefined },
  ...parameters,
});
/** The fields of the problems with a query. */
const problemsOf = (parameters: Record<string, unknown>): unknown => {
  try {
    return parseSearch(query(parameters));
  } catch (error) {
    return (error as DomainError).fields.map(({ field, message }) => `${field}: ${message}`);
  }
};

test('a search has no times and no cursor by default', () =>
  expect(parseSearch(query())).toEqual({ orderId: 'A-7', from: undefined, until: undefined, after: undefined }));

test('a day in `to` is included, and a time in `to` is not', () => {
  const days = parseSearch(query({ from: '2026-03-01', to: '2026-03-02' }));
  expect([days.from, days.until]).toEqual([new Date('2026-03-01T00:00:00Z'), new Date('2026-03-03T00:00:00Z')]);
  const times = parseSearch(query({ from: '2026-03-01T22:00:00Z', to: '2026-03-02T22:00:00.5Z' }));
  expect([times.from, times.until]).toEqual([
    new Date('2026-03-01T22:00:00.000Z'),
    new Date('2026-03-02T22:00:00.500Z'),
  ]);
  const ages = parseSearch(query({ from: '1970-01-01T00:00:00.000Z', to: '2999-12-31' }));
  expect([ages.from, ages.until]).toEqual([new Date(0), new Date('3000-01-01T00:00:00Z')]);
  const oneDay = parseSearch(query({ from: '2026-03-01', to: '2026-03-01' }));
  expect([oneDay.from, oneDay.until]).toEqual([new Date('2026-03-01T00:00:00Z'), new Date('2026-03-02T00:00:00Z')]);
});

const ORDER = 'orderId: orderId must be given once, with 1 to 100 characters: your order number, as in merchantOrderId';
const FROM = 'from: from must be a date in UTC, as in 2026-11-20 or 2026-11-20T18:03:36Z';
const TO = 'to: to must be a date in UTC, as in 2026-11-20 or 2026-11-20T18:03:36Z';
const AFTER = 'after: after must be the value from the link to the next page';

test.each([
  [{ orderId: undefined }, [ORDER]],
  [{ orderId: '' }, [ORDER]],
  [{ orderId: ['A-7', 'A-8'] }, [ORDER]],
  [{ orderId: 'x'.repeat(101) }, [ORDER]],
  [{ from: '2026-02-31' }, [FROM]],
  [{ from: '' }, [FROM]],
  [{ from: ['2026-02-01'] }, [FROM]],
  [{ from: '2026-02-01T00:00:00' }, [FROM]],
  [{ from: '2026-02-01T00:00:00+02:00' }, [FROM]],
  [{ to: 'yesterday' }, [TO]],
  [{ to: '1899-12-31' }, [TO]],
  [{ to: '3000-01-01' }, [TO]],
  [{ to: '2026-03-01T24:00:01Z' }, [TO]],
  [{ to: '2026-13-01T10:00:00Z' }, [TO]],
  [{ from: '2026-03-02', to: '2026-03-01T23:59:59Z' }, ['to: to must not be before from']],
  [{ after: 'x' }, [AFTER]],
  [{ after: ['a', 'b'] }, [AFTER]],
  [{ orderId: '', from: 'x', to: 'y', after: 'z' }, [ORDER, FROM, TO, AFTER]],
])('%j causes a 400 that names every invalid parameter (M3)', (parameters, problems) =>
  expect(problemsOf(parameters)).toEqual(problems),
);

test.each([{ orderId: 'x'.repeat(100) }, { orderId: ' ' }, { orderId: '\0' }])('%j is valid', (parameters) =>
  expect(parseSearch(query(parameters))).toMatchObject(parameters),
);

test('the link to the next page repeats the parameters, and its cursor is the last payment', () => {
  const parameters = { orderId: 'Order 1/é&', from: '2026-03-01', to: '2026-03-02' };
  const link = linkToNextPage(query(parameters), LAST);
  const [, reference] = /^<([^<>]+)>; rel="next"$/.exec(link)!;
  const next = new URL(reference!, 'https://api.example/x/merchants/1/payment-search?orderId=old');
  expect(next.pathname).toBe('/x/merchants/1/payment-search');
  const { after, ...others } = Object.fromEntries(next.searchParams);
  expect(others).toEqual(parameters);
  expect(parseSearch(query({ after })).after).toEqual(LAST);
  // The second link contains only one cursor.
  expect(linkToNextPage(query({ ...parameters, after: 'old' }), LAST)).toBe(link);
});

test.each([
  ['another version', '2.1772445200123.1MT83H0DZX37GHR05K'],
  ['no time', '1..1MT83H0DZX37GHR05K'],
  ['a malformed reference', '1.1772445200123.1MT83H0DZX37GHR05U'],
  ['a reference in lower case', '1.1772445200123.1mt83h0dzx37ghr05k'],
  ['a time with leading zeros', '1.01772445200123.1MT83H0DZX37GHR05K'],
  ['more text', '1.1772445200123.1MT83H0DZX37GHR05K '],
])('a cursor with %s is refused', (_, text) =>
  expect(problemsOf({ after: Buffer.from(text).toString('base64url') })).toEqual([AFTER]),
);

test('a cursor in another encoding is refused, and so is a long text', () => {
  const valid = Buffer.from('1.1772445200123.1MT83H0DZX37GHR05K').toString('base64url');
  expect(parseSearch(query({ after: valid })).after).toBeDefined();
  expect(problemsOf({ after: `${valid}=` })).toEqual([AFTER]);
  expect(problemsOf({ after: `${valid}${'!'.repeat(100)}` })).toEqual([AFTER]);
});
