import { pageLinks, readPageRequest } from './page.js';

test.each([
  [{}, { page: 1, pageSize: 50 }],
  [
    { page: '2', pageSize: '20' },
    { page: 2, pageSize: 20 },
  ],
  [
    { page: '1', pageSize: '1' },
    { page: 1, pageSize: 1 },
  ],
  [{ pageSize: '51' }, { page: 1, pageSize: 50 }],
  [
    { page: '1000000000', pageSize: '1000000000' },
    { page: 1_000_000_000, pageSize: 50 },
  ],
  [{ page: '007' }, { page: 7, pageSize: 50 }],
  [
    { customerReference: 'c', other: ['x'] },
    { page: 1, pageSize: 50, customerReference: 'c' },
  ],
])('the query %j is read as %j', (query, expected) => expect(readPageRequest(query)).toEqual(expected));

test.each([
  ...['0', '-1', '1.5', '1e3', '', ' 1', '0x10', '1000000001', '9'.repeat(30), '१'].flatMap((invalid) => [
    { query: { page: invalid }, fields: ['page'] },
    { query: { pageSize: invalid }, fields: ['pageSize'] },
  ]),
  { query: { page: ['1', '2'] }, fields: ['page'] },
  { query: { page: ['1'] }, fields: ['page'] },
  {
    query: { page: '0', pageSize: 'all', customerReference: ['a', 'b'] },
    fields: ['page', 'pageSize', 'customerReference'],
  },
])('the query $query is rejected with an error that names every invalid parameter', ({ query, fields }) => {
  const wholeNumber = 'must be a whole number from 1 to 1000000000';
  const invalid = fields.map((field) => ({
    field,
    message: `${field} ${field === 'customerReference' ? 'must be given once' : wholeNumber}`,
  }));
  expect(() => readPageRequest(query)).toThrow(expect.objectContaining({ code: 'request.invalid', fields: invalid }));
});

test.each([
  ['/v1/payments', 1, true, { nextPage: '/v1/payments?page=2' }],
  ['/v1/payments?pageSize=20', 1, false, {}],
  ['?pageSize=20', 1, true, { nextPage: '/v1/payments?pageSize=20&page=2' }],
  [
    '/v1/payments?pageSize=20&page=3&customerReference=a%26b&mine=1&mine=2',
    3,
    true,
    {
      previousPage: '/v1/payments?pageSize=20&page=2&customerReference=a%26b&mine=1&mine=2',
      nextPage: '/v1/payments?pageSize=20&page=4&customerReference=a%26b&mine=1&mine=2',
    },
  ],
  // The link contains the requested page size of 80, although a page has at most 50 payments.
  ['/v1/payments?pageSize=80&page=2', 2, false, { previousPage: '/v1/payments?pageSize=80&page=1' }],
])('the links of the page with the URL %s (page %d, a next page exists: %p) are %j', (address, page, hasNext, links) =>
  expect(pageLinks(address, page, hasNext)).toEqual(links),
);
