import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type HostedPaymentSnapshot, PaymentFailedV1, PaymentProcessingV1, PaymentSucceededV1 } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { CARDS, encryptCard } from '../../test/encrypted-card.js';
import { createMerchant } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CardKeys } from '../card-data/card-keys.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const readTransfers = (
  payment: HostedPaymentSnapshot,
): Promise<{ kind: string; debit_account: string; credit_account: string; amount: number }[]> =>
  processor.dataSource.query(
    `SELECT kind, debit_account, credit_account, t.amount FROM transfers t JOIN payments USING (payment_id) WHERE payment_reference = $1`,
    [payment.paymentReference],
  );

test('a payment with an approved card creates one charge, one payment, one transfer and two events', async () => {
  const payable = buildPayable();
  const payment = await processor.pay(payable);

  expect(payment).toMatchObject({
    state: 'success',
    amount: 12345,
    processedAmount: 12345,
    paymentMethodLabel: '**** 4242',
    errors: [],
    payable: { payableId: payable.payableId, state: 'paid', version: 3, paymentCount: 1 },
  });
  expect(processor.chargedReferences()).toContain(payment.paymentReference);
  expect(await readTransfers(payment)).toEqual([
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
  const eventsOfPayment = published.filter((event) => event.payload.paymentReference === payment.paymentReference);
  expect(
    eventsOfPayment.map(({ type, aggregateVersion, payload }) => [type, aggregateVersion, payload.payable.version]),
  ).toEqual([
    ['payment.processing.v1', 1, 2],
    ['payment.succeeded.v1', 2, 3],
  ]);
  // The reader of the first event needs no more while the payment is in progress (ADR 75).
  const { reference, paymentReference, paymentUTCDate } = payment;
  expect(eventsOfPayment[0]!.payload).toEqual({
    ...{ reference, paymentReference, paymentUTCDate, modifiedUTCDate: paymentUTCDate },
    state: 'processing',
    source: { kind: 'session' },
    payable: { payableId: payment.payable.payableId, state: 'reserved', version: 2, paymentCount: 1 },
  });
  expect(eventsOfPayment[1]!.payload).toEqual(payment);
});

test('a payment and the event of its outcome contain the merchant’s name and the site’s reference at the time of acceptance (M1)', async () => {
  const { merchantId, siteId } = await createMerchant(processor, { name: 'Karoo Books' });
  // Another site of the merchant, whose reference must not appear.
  await processor.dataSource.query(
    `INSERT INTO known_sites (site_id, merchant_id, site_reference, version) VALUES (5002, $1, 'TILL', 1)`,
    [merchantId],
  );
  const payable = buildPayable({ merchantId, siteId });
  const namesInEvents = async () => {
    const events = [
      ...(await processor.published(PaymentFailedV1)),
      ...(await processor.published(PaymentSucceededV1)),
    ].filter(({ payload }) => payload.payable.payableId === payable.payableId);
    return events.map(({ payload: { state, merchantName, siteReference } }) => [state, merchantName, siteReference]);
  };
  const failed = await processor.pay(payable, { card: CARDS.declined });
  expect(failed).toMatchObject({ state: 'failed', merchantName: 'Karoo Books', siteReference: 'WEB' });
  expect(await namesInEvents()).toEqual([['failed', 'Karoo Books', 'WEB']]);
  processor.clock.advance(1_000);
  // The site is renamed between two payments: each payment stores the name at its acceptance.
  await processor.dataSource.query(`UPDATE known_sites SET site_reference = 'RENAMED' WHERE site_id = $1`, [siteId]);
  await processor.pay(payable, { paymentNumber: 2 });
  const read = await processor.pollPayments(payable);
  expect(read.map(({ state, siteReference }) => [state, siteReference])).toEqual([
    ['success', 'RENAMED'],
    ['failed', 'WEB'],
  ]);
});

test('a session is charged only after the events of its merchant and site, because a payment keeps its names and fee terms', async () => {
  const { merchantId, siteId } = await createMerchant(processor);
  const [payable, reference, before] = [
    buildPayable({ merchantId, siteId: 998_001 }),
    randomUUID(),
    processor.chargedReferences(),
  ];
  const siteOfOtherMerchant = buildPayable({ merchantId: merchantId + 500_000, siteId });
  for (const notReady of [payable, siteOfOtherMerchant]) {
    const payment = processor.pay(notReady, { reference, isOwnerKnown: false });
    await expect(payment).rejects.toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
    expect(await processor.findPayable(notReady.payableId)).toEqual({});
    expect(await processor.pollPayments(notReady)).toEqual([]);
  }
  expect(processor.chargedReferences()).toEqual(before);

  await createMerchant(processor, { merchantId, fees: { test: { basisPoints: 100, fixedAmount: 5 } } }, 998_001);
  const paid = await processor.pay(payable, { reference, isOwnerKnown: false });
  expect(paid).toMatchObject({ state: 'success', merchantName: 'Karoo Books', siteReference: 'WEB' });
  expect(paid).toMatchObject({ reference, payable: { paymentCount: 1 } });
  expect((await readTransfers(paid)).map(({ kind }) => kind).sort()).toEqual(['capture', 'fee']);
});

test.each([
  [CARDS.declined, '10'],
  [CARDS.insufficientFunds, '11'],
  [CARDS.expired, '12'],
  [CARDS.wrongCvv, '14'],
])(
  'the card %s is declined with the error reference %s, no money moves, and the payer can try again',
  async (card, errorReference) => {
    const payable = buildPayable();
    const failed = await processor.pay(payable, { card });
    expect(failed).toMatchObject({
      state: 'failed',
      processedAmount: 0,
      errors: [{ errorReference }],
      payable: { state: 'open', paymentCount: 1 },
    });
    expect(await readTransfers(failed)).toEqual([]);
    expect((await processor.published(PaymentFailedV1)).map(({ payload }) => payload.paymentReference)).toContain(
      failed.paymentReference,
    );

    const paid = await processor.pay(payable, { paymentNumber: 2 });
    expect(paid).toMatchObject({ state: 'success', payable: { state: 'paid', paymentCount: 2 } });
  },
);

test('the fifth failed payment sets the payable to refused', async () => {
  const payable = buildPayable();
  for (let nth = 1; nth <= 5; nth++) {
    const failed = await processor.pay(payable, { card: CARDS.declined, paymentNumber: nth });
    expect(failed.payable.state).toBe(nth < 5 ? 'open' : 'refused');
  }
  await expect(processor.pay(payable, { paymentNumber: 6 })).rejects.toMatchObject({ code: 'payable.refused' });
});

test('a retry with the same reference returns the existing payment and charges nothing', async () => {
  const payable = buildPayable();
  const reference = randomUUID();
  const first = await processor.pay(payable, { reference });
  const retried = await processor.pay(payable, { reference });
  expect(retried).toEqual(first);
  expect(
    processor.chargedReferences().filter((chargedReference) => chargedReference === first.paymentReference),
  ).toHaveLength(1);
});

test('a payment with the reference of an earlier payment is rejected as a conflict and charges nothing', async () => {
  const payable = buildPayable();
  const reference = randomUUID();
  await processor.pay(payable, { reference, card: CARDS.declined });
  const before = processor.chargedReferences();
  await expect(processor.pay(payable, { reference, paymentNumber: 2 })).rejects.toMatchObject({
    code: 'request.idempotency-conflict',
  });
  expect(processor.chargedReferences()).toEqual(before);
  expect(await processor.pay(payable, { paymentNumber: 2 })).toMatchObject({
    state: 'success',
    payable: { paymentCount: 2 },
  });
});

test('a payment needs two SQL statements, each with its own commit', async () => {
  const payable = buildPayable();
  const statements = jest.spyOn(processor.dataSource, 'query');
  const transactions = jest.spyOn(processor.dataSource, 'transaction');
  await processor.pay(payable);
  const statementsOfPayment = statements.mock.calls.filter(([text]) => /\b(payments|payables|attempts)\b/.test(text));
  expect([statementsOfPayment.length, transactions.mock.calls.length]).toEqual([2, 0]);
  statements.mockRestore();
  transactions.mockRestore();
});

test('one of twenty concurrent payers is charged, and the others are rejected with payment.in-progress', async () => {
  const payable = buildPayable();
  const acquirer = processor.acquirer;
  const charge = acquirer.charge.bind(acquirer);
  const rejectionCodes: string[] = [];
  let chargesAtBank = 0;
  let respond: () => void = () => undefined;
  const bankResponse = new Promise<void>((resolve) => (respond = resolve));
  // The bank responds only when the charges of all payers have reached it or were rejected, so that all payments are
  // concurrent.
  const respondWhenAllArrived = (): void => void (chargesAtBank + rejectionCodes.length === 20 && respond());
  const spy = jest.spyOn(acquirer, 'charge').mockImplementation(async (...args) => {
    chargesAtBank++;
    respondWhenAllArrived();
    await bankResponse;
    return charge(...args);
  });
  const pay = () =>
    processor.pay(payable).catch(({ code }: { code: string }) => {
      rejectionCodes.push(code);
      respondWhenAllArrived();
    });
  await Promise.all(Array.from({ length: 20 }, pay));
  spy.mockRestore();
  expect(chargesAtBank).toBe(1);
  expect(rejectionCodes).toEqual(Array(19).fill('payment.in-progress'));
  const [{ count }] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  expect(count).toBe(1);
});

test('a payment of an expired or paid payable, or with another amount or merchant, is rejected without a charge', async () => {
  const before = processor.chargedReferences().length;
  await expect(processor.pay(buildPayable({ expiresAt: '2026-03-01T10:00:00.000Z' }))).rejects.toMatchObject({
    code: 'payable.expired',
  });

  const payable = buildPayable();
  await processor.pay(payable, { card: CARDS.declined });
  await expect(processor.pay({ ...payable, amount: 1 }, { paymentNumber: 2 })).rejects.toMatchObject({
    code: 'payable.mismatch',
  });
  await expect(processor.pay({ ...payable, merchantId: 1002 }, { paymentNumber: 2 })).rejects.toMatchObject({
    code: 'payment.in-progress',
  });

  const paidPayable = buildPayable();
  await processor.pay(paidPayable);
  await expect(processor.pay(paidPayable, { paymentNumber: 2 })).rejects.toMatchObject({ code: 'payable.paid' });
  expect(processor.chargedReferences()).toHaveLength(before + 1);
});

test('a charge does not start after its deadline', async () => {
  const payable = buildPayable();
  await expect(processor.pay(payable, { command: { deadline: '2026-03-01T10:00:00.000Z' } })).rejects.toMatchObject({
    code: 'service.not-ready',
  });
  expect(await processor.pay(payable)).toMatchObject({ state: 'success' });
});

test('a card is accepted only for its session and payment, and only before its expiry', async () => {
  const payable = buildPayable();
  const expectedBinding = { sessionId: payable.payableId, paymentNumber: 1 };
  const expectRejected = async (encrypted: string, message: string, cause?: Error): Promise<void> => {
    // The log contains the reason; the response to the payer does not.
    const decryption = processor.service.app.get(CardKeys).decryptCard(encrypted, expectedBinding);
    await expect(decryption).rejects.toMatchObject({ code: 'request.invalid', message, cause });
    const payment = processor.pay(payable, { paymentNumber: 1, command: { encryptedCard: encrypted } });
    await expect(payment).rejects.toMatchObject({ code: 'request.invalid', message, fields: [] });
  };
  const expectUnreadable = (encrypted: string, reason: string): Promise<void> =>
    expectRejected(
      encrypted,
      'The encrypted card cannot be read. Reload the page and try again.',
      new Error(`Encrypted card rejected: ${reason}`),
    );

  await expectUnreadable('not.a.jwe', 'parts');
  // The header is valid and names the current key. Only the length is invalid.
  const tooLong = await encryptCard(processor.cardKey, expectedBinding, { holderName: 'x'.repeat(4_096) });
  await expectUnreadable(tooLong, 'unusable');
  for (const [kid, reason] of [
    [undefined, 'kid'],
    ['key-1', 'unusable'],
  ] as const) {
    const keyWithInvalidId = { ...processor.cardKey, kid: kid as string };
    await expectUnreadable(await encryptCard(keyWithInvalidId, expectedBinding), reason);
  }
  const tampered = (await encryptCard(processor.cardKey, expectedBinding)).replace(/[^.]*$/, 'A'.repeat(22));
  await expectUnreadable(tampered, 'wrong key, or changed');
  const compressed = await encryptCard(processor.cardKey, expectedBinding, {}, { zip: 'DEF' });
  await expectUnreadable(compressed, 'extension');
  for (const wrongBinding of [{ sessionId: randomUUID() }, { paymentNumber: 2 }, { expiresAt: 'later' }])
    await expectRejected(
      await encryptCard(processor.cardKey, { ...expectedBinding, ...wrongBinding }),
      'The card was encrypted for another page. Reload the page and try again.',
    );

  const expired = { ...expectedBinding, expiresAt: processor.clock.later(-60_000).toISOString() };
  await expectRejected(
    await encryptCard(processor.cardKey, expired),
    `The encrypted card expired 60 s ago. Reload the page and try again. If a program encrypted the card, its clock may be wrong: it must use the platform's time, the header Date.`,
  );

  expect(await processor.pay(payable)).toMatchObject({ state: 'success', payable: { paymentCount: 1 } });
});

test('the error for an invalid card names the invalid fields, and the request does not count as a payment', async () => {
  const payable = buildPayable();
  const binding = { sessionId: payable.payableId, paymentNumber: 1 };
  const invalidFields = { cardNumber: '4242424242424241', cvv: '12', holderName: ' ', expiryMonth: 13 };
  const error: unknown = await processor
    .pay(payable, { command: { encryptedCard: await encryptCard(processor.cardKey, binding, invalidFields) } })
    .catch((e: unknown) => e);
  expect(error).toMatchObject({ code: 'request.invalid' });
  expect((error as { fields: { field: string }[] }).fields.map(({ field }) => field)).toEqual([
    'cardNumber',
    'cvv',
    'holderName',
    'expiryDate',
  ]);
  expect(JSON.stringify(error)).not.toContain('4242');
  expect(await processor.pay(payable)).toMatchObject({ payable: { paymentCount: 1 } });
});

const PAYER = {
  address: '203.0.113.7',
  browser: { userAgent: 'Karoobrowser/7', language: 'af-x-karoo', screenWidth: 1441, timeZoneOffsetMinutes: -120 },
};

test('the bank receives the payer’s context and does not store it; a payment with an empty context is also charged', async () => {
  const charge = jest.spyOn(processor.acquirer, 'charge');
  try {
    const { paymentReference } = await processor.pay(buildPayable(), { command: { payer: PAYER } });
    expect(charge.mock.calls.map(([{ payer }]) => payer)).toEqual([PAYER]);
    const lines = readFileSync(processor.bankFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes(paymentReference));
    expect(lines.map((line) => (JSON.parse(line) as { payerContext: unknown }).payerContext)).toEqual([
      ['address', 'browser.language', 'browser.screenWidth', 'browser.timeZoneOffsetMinutes', 'browser.userAgent'],
    ]);
    expect(await processor.pay(buildPayable())).toMatchObject({ state: 'success' });
    expect(charge.mock.calls[1]![0].payer).toEqual({});
  } finally {
    charge.mockRestore();
  }
});

test('card data and the payer’s context are stored in no table', async () => {
  const payable = buildPayable();
  await processor.pay(payable, { card: '5555555555554444', command: { payer: PAYER } });
  const tables = await processor.dataSource.query<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
  );
  const tablesContaining = async (text: string): Promise<string[]> => {
    const tableNames: string[] = [];
    for (const { name } of tables) {
      const rows = await processor.dataSource.query<unknown[]>(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [text],
      );
      if (rows.length > 0) tableNames.push(name);
    }
    return tableNames;
  };
  expect(await tablesContaining('**** 4444')).toContain('payments');
  for (const text of ['5555555555554444', '203.0.113.7', 'Karoobrowser', 'af-x-karoo'])
    expect(await tablesContaining(text)).toEqual([]);
});
