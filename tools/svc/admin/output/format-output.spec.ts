import { ADMIN_COMMANDS } from '../admin.ts';
import { formatForPerson } from './format-output.ts';
import { formatAmount } from './table-columns.ts';
import { COLUMNS } from './table-columns.ts';

const ID = '0199a1b2-c3d4-7e5f-8a9b-000000000001';
const TIME = '2026-03-01T10:00:05.000Z';
const PAYMENT = '1H2J3K4M5N6P7Q8R9S';
/** The whole output, as a person in Johannesburg sees it. */
const show = (output: unknown, command?: string): string => formatForPerson(output, command, 'Africa/Johannesburg');

it.each([
  [0, 'R 0.00'],
  [5, 'R 0.05'],
  [150, 'R 1.50'],
  [99_999, 'R 999.99'],
  [123_450, 'R 1 234.50'],
  [-123_450, '-R 1 234.50'],
  [100_000_000_000, 'R 1 000 000 000.00'],
])('%d cents are %s', (cents, text) => expect(formatAmount(cents)).toBe(text));

it('an amount in another currency than Rand has its code', () => expect(formatAmount(1_234, 'USD')).toBe('USD 12.34'));

it('an empty list and an empty response are one word', () => {
  expect(show([])).toBe('none');
  expect(show(undefined)).toBe('done');
});

it('a list is a table: amounts to the right, local times, and - for nothing', () => {
  const rows = [
    { id: 1, name: 'a', amount: 123_450, isOpen: true, createdUTCDate: TIME, tags: ['x', 'y'] },
    { id: 20, name: null, amount: 5, currencyISOCode: 'USD', isOpen: false, tags: [] },
    { id: 3, name: '', amount: null, createdUTCDate: null, currencyISOCode: undefined },
  ];
  expect(show(rows)).toBe(
    [
      'id  name      amount  isOpen  created           tags  currencyISOCode',
      '1   a     R 1 234.50  yes     2026-03-01 12:00  x, y  -',
      '20  -       USD 0.05  no      -                 -     USD',
      '3   -              -  -       -                 -     -',
      '',
      'times: Africa/Johannesburg',
    ].join('\n'),
  );
});

it('an object has a line for each member, with local times to the second, and a table for each list in it', () => {
  const merchant = {
    ...{ merchantId: 1001, name: 'Karoo', createdUTCDate: TIME, maximumAmount: null, features: {}, grants: [] },
    fees: { live: { basisPoints: 290, fixedAmount: 150 } },
    sites: [
      {
        ...{ siteId: 5001, name: 'Online', siteReference: 'KAROO-1', requireApiKey: true, allowedHosts: [] },
        ...{ keylessMode: 'test', webhookUrl: null, webhookEnabled: false, challengePayers: false },
      },
    ],
  };
  expect(show(merchant, 'merchants show')).toBe(
    [
      'merchantId             1001',
      'name                   Karoo',
      'created                2026-03-01 12:00:05',
      'maximumAmount          -',
      'features               -',
      'grants                 -',
      'fees.live.basisPoints  290',
      'fees.live.fixedAmount  R 1.50',
      '',
      'sites:',
      'siteId  name    siteReference  needs key  webhook  challenge  allowedHosts  webhookUrl',
      '5001    Online  KAROO-1        yes        no       no         -             -',
      '',
      'times: Africa/Johannesburg',
    ].join('\n'),
  );
});

it('an object in a cell is a list of its members', () =>
  expect(show([{ limits: { cardDeclinesPerDay: 5, site: { perDay: 90 } }, none: {} }])).toBe(
    ['limits                                none', 'cardDeclinesPerDay 5, site.perDay 90  -'].join('\n'),
  ));

it('control characters are question marks, because a name must not move the cursor', () => {
  expect(show({ name: 'a\u001b[2J\nb' })).toBe('name  a?[2J?b');
  expect(show([{ name: 'a\u001b[2J\nb' }])).toBe('name\na?[2J?b');
});

it('lists notifications with their order, and the reason why they are not delivered', () => {
  const notification = {
    ...{ id: ID, webhookId: ID, recipient: 'session', type: 'payment', merchantId: 1001, siteId: 5001, mode: 'test' },
    ...{ sessionId: ID, paymentReference: PAYMENT, paymentStatus: 'Success', apiVersion: 'v3.1', orderId: 'A-1001' },
    ...{
      url: 'https://shop.example/hooks/svc',
      state: 'pending',
      attemptCount: 3,
      nextAttemptAt: TIME,
      createdAt: TIME,
    },
    ...{
      deliveredAt: null,
      unsignedSince: null,
      missingKeys: null,
      lastAttempt: { statusCode: 503, errorClass: null },
    },
  };
  const timedOut = { ...notification, orderId: null, lastAttempt: { statusCode: null, errorClass: 'timeout' } };
  const final = { ...notification, nextAttemptAt: null, attemptCount: 12 };
  const rows = [
    notification,
    { ...timedOut, state: 'exhausted', nextAttemptAt: null, attemptCount: 12 },
    { ...final, state: 'delivered', lastAttempt: { statusCode: 204, errorClass: null, hint: null } },
    { ...final, state: 'delivered', lastAttempt: { statusCode: 200, errorClass: null, hint: 'An HTML page …' } },
    { ...notification, attemptCount: 0, lastAttempt: null },
    { ...notification, attemptCount: 0, lastAttempt: null, missingKeys: ['webhook'] },
  ];
  expect(show(rows, 'webhooks list')).toBe(
    [
      'id                                    state      order   reason           next attempt      type     url',
      `${ID}  pending    A-1001  HTTP 503 (3×)    2026-03-01 12:00  payment  https://shop.examp…`,
      `${ID}  exhausted  -       timeout (12×)    -                 payment  https://shop.examp…`,
      `${ID}  delivered  A-1001  -                -                 payment  https://shop.examp…`,
      `${ID}  delivered  A-1001  HTML page        -                 payment  https://shop.examp…`,
      `${ID}  pending    A-1001  -                2026-03-01 12:00  payment  https://shop.examp…`,
      `${ID}  pending    A-1001  no key: webhook  2026-03-01 12:00  payment  https://shop.examp…`,
      '',
      'times: Africa/Johannesburg',
    ].join('\n'),
  );
});

it('lists refunds with whole references, amounts and times, and cuts the reason', () => {
  const refund = {
    ...{ refundReference: ID, svcId: PAYMENT, amount: 123_450, status: 'succeeded', createdUTCDate: TIME, queries: 0 },
    ...{ merchantId: 1001, siteId: 5001, mode: 'live', acquirer: 'adyen', reason: 'One mug was broken' },
  };
  const table = show([refund, { ...refund, status: 'pending', reason: null }], 'refunds list');
  expect(table).toBe(
    [
      'refundReference                           amount  status     payment             merchant  created           reason',
      `${ID}  R 1 234.50  succeeded  ${PAYMENT}  1001      2026-03-01 12:00  One mug wa…`,
      `${ID}  R 1 234.50  pending    ${PAYMENT}  1001      2026-03-01 12:00  -`,
      '',
      'times: Africa/Johannesburg',
    ].join('\n'),
  );
  expect(Math.max(...table.split('\n').map(({ length }) => length))).toBe(120);
});

it('prints a reconciliation with amounts in Rand in one line for each merchant', () => {
  const row = {
    ...{
      merchantId: 1001,
      mode: 'test',
      payments: 2,
      processed: 24_690,
      failed: 1,
      pending: 0,
      unknown: 0,
      refunds: 1,
    },
    ...{ refunded: 500, refundsPending: 0, unsettled: 0, undelivered: 0, differs: '=', notes: '' },
  };
  const other = { ...row, merchantId: 1002, differs: 'ledger 1, retrieval 2', notes: '3 undelivered' };
  expect(show([row, other], 'reconcile')).toBe(
    [
      'merchant  mode  differs                payments  processed  failed  pending  unknown  refunds  refunded  notes',
      '1001      test  =                      2          R 246.90  1       0        0        1          R 5.00  -',
      '1002      test  ledger 1, retrieval 2  2          R 246.90  1       0        0        1          R 5.00  3 undelivered',
    ].join('\n'),
  );
});

it('cuts the last columns first, down to eight characters, and neither the first one nor an amount', () => {
  const long = (length: number): string => 'x'.repeat(length);
  const cut = (length: number): string => `${long(length - 1)}…`;
  const row = { id: long(40), amount: 1, name: long(50), note: long(60) };
  expect(show([row]).split('\n')[1]).toBe(`${long(40)}  R 0.01  ${long(50)}  ${cut(18)}`);
  expect(show([{ ...row, id: long(60) }]).split('\n')[1]).toBe(`${long(60)}  R 0.01  ${cut(40)}  ${cut(8)}`);
});

it('prints each row as lines, if its columns cannot be cut enough', () => {
  const row = { id: 'x'.repeat(90), amount: 1, name: 'name-of-it', note: 'y'.repeat(20), more: 'z'.repeat(20) };
  const lines = [
    `id      ${row.id}`,
    'amount  R 0.01',
    'name    name-of-it',
    `note    ${row.note}`,
    `more    ${row.more}`,
  ].join('\n');
  expect(show([row, row])).toBe(`${lines}\n\n${lines}`);
});

it('has columns only for commands that exist', () => {
  const names = new Set(ADMIN_COMMANDS.map(({ name }) => name));
  for (const command of Object.keys(COLUMNS)) {
    const name = command.split(' ').slice(0, 2).join(' ');
    expect([command, names.has(name)]).toEqual([command, true]);
  }
});
