import { randomUUID } from 'node:crypto';
import { PaymentFailedV1, PaymentProcessingV1, type PaymentSnapshot, PaymentSucceededV1 } from '@svc/contracts';
import { aPayable } from '../../test/builders.js';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const transfersOf = (
  payment: PaymentSnapshot,
): Promise<{ kind: string; debit_account: string; credit_account: string; amount: number }[]> =>
  processor.dataSource.query(
    `SELECT kind, debit_account, credit_account, t.amount FROM transfers t JOIN payments USING (payment_id) WHERE payment_reference = $1`,
    [payment.paymentReference],
  );

test('an approved card: one charge, one payment, one transfer, two events', async () => {
  const payable = aPayable();
  const payment = await processor.pay(payable);

  expect(payment).toMatchObject({
    state: 'success',
    amount: 12345,
    processedAmount: 12345,
    paymentMethodLabel: '**** 4242',
    errors: [],
    payable: { payableId: payable.payableId, state: 'paid', version: 3, tries: 1 },
  });
  expect(processor.charged()).toContain(payment.paymentReference);
  expect(await transfersOf(payment)).toEqual([
    {
      kind: 'capture',
      debit_account: 'test:acquirer:simulated:receivable',
      credit_account: 'test:merchant:1001:payable',
      amount: 12345,
    },
  ]);
  const published = [
    ...(await processor.published(PaymentProcessingV1)),
    ...(await processor.published(PaymentSucceededV1)),
  ];
  const ofThis = published.filter((event) => event.payload.paymentReference === payment.paymentReference);
  expect(
    ofThis.map(({ type, aggregateVersion, payload }) => [type, aggregateVersion, payload.payable.version]),
  ).toEqual([
    ['payment.processing.v1', 1, 2],
    ['payment.succeeded.v1', 2, 3],
  ]);
  expect(ofThis[1]!.payload).toEqual(payment);
});

test.each([
  [CARDS.declined, '10'],
  [CARDS.insufficientFunds, '11'],
  [CARDS.expired, '12'],
  [CARDS.wrongCvv, '14'],
])('%s is declined with %s, moves no money and can be tried again', async (card, errorReference) => {
  const payable = aPayable();
  const failed = await processor.pay(payable, { card });
  expect(failed).toMatchObject({
    state: 'failed',
    processedAmount: 0,
    errors: [{ errorReference }],
    payable: { state: 'open', tries: 1 },
  });
  expect(await transfersOf(failed)).toEqual([]);
  expect((await processor.published(PaymentFailedV1)).map(({ payload }) => payload.paymentReference)).toContain(
    failed.paymentReference,
  );

  const paid = await processor.pay(payable, { try: 2 });
  expect(paid).toMatchObject({ state: 'success', payable: { state: 'paid', tries: 2 } });
});

test('the fifth failed try refuses the payable', async () => {
  const payable = aPayable();
  for (let nth = 1; nth <= 5; nth++) {
    const failed = await processor.pay(payable, { card: CARDS.declined, try: nth });
    expect(failed.payable.state).toBe(nth < 5 ? 'open' : 'refused');
  }
  await expect(processor.pay(payable, { try: 6 })).rejects.toMatchObject({ code: 'payable.refused' });
});

test('a repeat of the same reference charges once and gives the first outcome', async () => {
  const payable = aPayable();
  const reference = randomUUID();
  const first = await processor.pay(payable, { reference });
  const repeat = await processor.pay(payable, { reference });
  expect(repeat).toEqual(first);
  expect(processor.charged().filter((charged) => charged === first.paymentReference)).toHaveLength(1);
});

test('twenty payers at once: one is charged, the others are told that a payment is in progress or done', async () => {
  const payable = aPayable();
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => processor.pay(payable)));
  const paid = results.filter((result) => result.status === 'fulfilled');
  expect(paid).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected')
      expect((result.reason as { code: string }).code).toMatch(/^(payment\.in-progress|payable\.paid)$/);
  }
  const [{ count }] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  expect(count).toBe(1);
});

test('what is expired, paid, or of another amount is refused before anything is charged or recorded', async () => {
  const before = processor.charged().length;
  await expect(processor.pay(aPayable({ expiresAt: '2026-03-01T10:00:00.000Z' }))).rejects.toMatchObject({
    code: 'payable.expired',
  });

  const payable = aPayable();
  await processor.pay(payable, { card: CARDS.declined });
  await expect(processor.pay({ ...payable, amount: 1 }, { try: 2 })).rejects.toMatchObject({
    code: 'payable.mismatch',
  });
  await expect(processor.pay({ ...payable, merchantId: 1002 }, { try: 2 })).rejects.toMatchObject({
    code: 'payment.in-progress',
  });

  const paid = aPayable();
  await processor.pay(paid);
  await expect(processor.pay(paid, { try: 2 })).rejects.toMatchObject({ code: 'payable.paid' });
  expect(processor.charged()).toHaveLength(before + 1);
});

test('a charge whose deadline has passed must not begin', async () => {
  const payable = aPayable();
  await expect(processor.pay(payable, { command: { deadline: '2026-03-01T10:00:00.000Z' } })).rejects.toMatchObject({
    code: 'service.not-ready',
  });
  expect(await processor.pay(payable)).toMatchObject({ state: 'success' });
});

test('a card opens only for the session and try it was encrypted for, and only in time', async () => {
  const payable = aPayable();
  const charge = async (encrypted: string, nth = 1): Promise<unknown> =>
    processor.pay(payable, { try: nth, command: { encryptedCard: encrypted } });
  const refused = { code: 'request.invalid' };

  await expect(charge('not.a.jwe')).rejects.toMatchObject(refused);
  await expect(charge('x'.repeat(10_000))).rejects.toMatchObject(refused);
  await expect(
    charge(await encryptedCard(processor.cardKey, { sessionId: randomUUID(), try: 1 })),
  ).rejects.toMatchObject(refused);
  await expect(
    charge(await encryptedCard(processor.cardKey, { sessionId: payable.payableId, try: 2 })),
  ).rejects.toMatchObject(refused);
  const late = { sessionId: payable.payableId, try: 1, expiresAt: '2026-03-01T10:00:00.000Z' };
  await expect(charge(await encryptedCard(processor.cardKey, late))).rejects.toMatchObject(refused);
  const ofAnotherKey = { ...processor.cardKey, kid: randomUUID() };
  await expect(
    charge(await encryptedCard(ofAnotherKey, { sessionId: payable.payableId, try: 1 })),
  ).rejects.toMatchObject(refused);
  const compressed = { sessionId: payable.payableId, try: 1 };
  await expect(charge(await encryptedCard(processor.cardKey, compressed, {}, { zip: 'DEF' }))).rejects.toMatchObject(
    refused,
  );

  expect(await processor.pay(payable)).toMatchObject({ state: 'success', payable: { tries: 1 } });
});

test('a card that cannot be one is refused by field, without using up a try', async () => {
  const payable = aPayable();
  const binding = { sessionId: payable.payableId, try: 1 };
  const bad = { cardNumber: '4242424242424241', cvv: '12', holderName: ' ', expiryMonth: 13 };
  const error: unknown = await processor
    .pay(payable, { command: { encryptedCard: await encryptedCard(processor.cardKey, binding, bad) } })
    .catch((e: unknown) => e);
  expect(error).toMatchObject({ code: 'request.invalid' });
  expect((error as { fields: { field: string }[] }).fields.map(({ field }) => field)).toEqual([
    'cardNumber',
    'cvv',
    'holderName',
    'expiryDate',
  ]);
  expect(JSON.stringify(error)).not.toContain('4242');
  expect(await processor.pay(payable)).toMatchObject({ payable: { tries: 1 } });
});

test('card data stands in no table', async () => {
  const payable = aPayable();
  await processor.pay(payable, { card: '5555555555554444' });
  const tables = await processor.dataSource.query<{ name: string }[]>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`,
  );
  const containing = async (text: string): Promise<string[]> => {
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await processor.dataSource.query<unknown[]>(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [text],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  };
  expect(await containing('**** 4444')).toContain('payments');
  expect(await containing('5555555555554444')).toEqual([]);
});
