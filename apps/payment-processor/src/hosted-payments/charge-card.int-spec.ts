import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type HostedPaymentSnapshot, PaymentFailedV1, PaymentProcessingV1, PaymentSucceededV1 } from '@svc/contracts';
import { aPayable } from '../../test/builders.js';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { aMerchant } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { CardKeys } from '../card-data/card-keys.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const transfersOf = (
  payment: HostedPaymentSnapshot,
): Promise<{ kind: string; debit_account: string; credit_account: string; amount: number }[]> =>
  processor.dataSource.query(
    `SELECT kind, debit_account, credit_account, t.amount FROM transfers t JOIN payments USING (payment_id) WHERE payment_reference = $1`,
    [payment.paymentReference],
  );

test('an approved card causes one charge, one payment, one transfer and two events', async () => {
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

test('payment and events have the merchant’s name and the site’s reference at the acceptance (M1)', async () => {
  const { merchantId, siteId } = await aMerchant(processor, { name: 'Karoo Books' });
  // Another site of the merchant, whose reference must not appear.
  await processor.dataSource.query(
    `INSERT INTO known_sites (site_id, merchant_id, site_reference, version) VALUES (5002, $1, 'TILL', 1)`,
    [merchantId],
  );
  const payable = aPayable({ merchantId, siteId });
  const ofEvents = async () => {
    const events = [
      ...(await processor.published(PaymentProcessingV1)),
      ...(await processor.published(PaymentFailedV1)),
      ...(await processor.published(PaymentSucceededV1)),
    ].filter(({ payload }) => payload.payable.payableId === payable.payableId);
    return events.map(({ payload: { state, merchantName, siteReference } }) => [state, merchantName, siteReference]);
  };
  const failed = await processor.pay(payable, { card: CARDS.declined });
  expect(failed).toMatchObject({ state: 'failed', merchantName: 'Karoo Books', siteReference: 'WEB' });
  expect(await ofEvents()).toEqual([
    ['processing', 'Karoo Books', 'WEB'],
    ['failed', 'Karoo Books', 'WEB'],
  ]);
  processor.clock.advance(1_000);
  // Renamed in between: each payment keeps its own name, also when it is read again.
  await processor.dataSource.query(`UPDATE known_sites SET site_reference = 'RENAMED' WHERE site_id = $1`, [siteId]);
  await processor.pay(payable, { try: 2 });
  const read = await processor.check(payable);
  expect(read.map(({ state, siteReference }) => [state, siteReference])).toEqual([
    ['success', 'RENAMED'],
    ['failed', 'WEB'],
  ]);
  // The site of another merchant must not appear.
  const stranger = await processor.pay(aPayable({ merchantId: merchantId + 500_000, siteId }));
  expect(stranger.siteReference).toBeUndefined();
  expect(stranger.merchantName).toBeUndefined();
});

test.each([
  [CARDS.declined, '10'],
  [CARDS.insufficientFunds, '11'],
  [CARDS.expired, '12'],
  [CARDS.wrongCvv, '14'],
])('the card %s is declined with %s, moves no money, and the payer can try again', async (card, errorReference) => {
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

test('a retry with the same reference charges once and returns the first outcome', async () => {
  const payable = aPayable();
  const reference = randomUUID();
  const first = await processor.pay(payable, { reference });
  const repeat = await processor.pay(payable, { reference });
  expect(repeat).toEqual(first);
  expect(processor.charged().filter((charged) => charged === first.paymentReference)).toHaveLength(1);
});

test('the reference of an earlier try is a conflict, and charges nothing', async () => {
  const payable = aPayable();
  const reference = randomUUID();
  await processor.pay(payable, { reference, card: CARDS.declined });
  const before = processor.charged();
  await expect(processor.pay(payable, { reference, try: 2 })).rejects.toMatchObject({
    code: 'request.idempotency-conflict',
  });
  expect(processor.charged()).toEqual(before);
  expect(await processor.pay(payable, { try: 2 })).toMatchObject({ state: 'success', payable: { tries: 2 } });
});

test('a payment consists of two statements, each with its own commit', async () => {
  const payable = aPayable();
  const statements = jest.spyOn(processor.dataSource, 'query');
  const transactions = jest.spyOn(processor.dataSource, 'transaction');
  await processor.pay(payable);
  const ofThePayment = statements.mock.calls.filter(([text]) => /\b(payments|payables|attempts)\b/.test(text));
  expect([ofThePayment.length, transactions.mock.calls.length]).toEqual([2, 0]);
  statements.mockRestore();
  transactions.mockRestore();
});

test('of twenty concurrent payers one is charged, and the others get payment.in-progress', async () => {
  const payable = aPayable();
  const acquirer = processor.service.app.get(Acquirer);
  const charge = acquirer.charge.bind(acquirer);
  const refused: string[] = [];
  let atTheBank = 0;
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  // The bank responds only when every payer is at the bank or rejected, so that all meet a payment in progress.
  const answerTheLast = (): void => void (atTheBank + refused.length === 20 && answer());
  const spy = jest.spyOn(acquirer, 'charge').mockImplementation(async (...given) => {
    atTheBank++;
    answerTheLast();
    await answered;
    return charge(...given);
  });
  const pay = () =>
    processor.pay(payable).catch(({ code }: { code: string }) => {
      refused.push(code);
      answerTheLast();
    });
  await Promise.all(Array.from({ length: 20 }, pay));
  spy.mockRestore();
  expect(atTheBank).toBe(1);
  expect(refused).toEqual(Array(19).fill('payment.in-progress'));
  const [{ count }] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  expect(count).toBe(1);
});

test('an expired or paid payable, or another amount, is rejected without a charge or record', async () => {
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

test('a charge does not begin after its deadline', async () => {
  const payable = aPayable();
  await expect(processor.pay(payable, { command: { deadline: '2026-03-01T10:00:00.000Z' } })).rejects.toMatchObject({
    code: 'service.not-ready',
  });
  expect(await processor.pay(payable)).toMatchObject({ state: 'success' });
});

test('a card is accepted only for its session and try, and only before its expiry', async () => {
  const payable = aPayable();
  const right = { sessionId: payable.payableId, try: 1 };
  const expectRefused = async (encrypted: string, message: string, cause?: Error): Promise<void> => {
    // The reason is in the log, not in the response to the payer.
    const opening = processor.service.app.get(CardKeys).openCard(encrypted, right);
    await expect(opening).rejects.toMatchObject({ code: 'request.invalid', message, cause });
    const paying = processor.pay(payable, { try: 1, command: { encryptedCard: encrypted } });
    await expect(paying).rejects.toMatchObject({ code: 'request.invalid', message, fields: [] });
  };
  const expectUnreadable = (encrypted: string, why: string): Promise<void> =>
    expectRefused(
      encrypted,
      'The encrypted card cannot be read. Reload the page and try again.',
      new Error(`Encrypted card rejected: ${why}`),
    );

  await expectUnreadable('not.a.jwe', 'parts');
  // Its header is valid and names our key: only its length is wrong.
  const tooLong = await encryptedCard(processor.cardKey, right, { holderName: 'x'.repeat(4_096) });
  await expectUnreadable(tooLong, 'unusable');
  for (const [kid, why] of [
    [undefined, 'kid'],
    ['key-1', 'unusable'],
  ] as const) {
    const ofNoKey = { ...processor.cardKey, kid: kid as string };
    await expectUnreadable(await encryptedCard(ofNoKey, right), why);
  }
  const tampered = (await encryptedCard(processor.cardKey, right)).replace(/[^.]*$/, 'A'.repeat(22));
  await expectUnreadable(tampered, 'wrong key, or changed');
  const compressed = await encryptedCard(processor.cardKey, right, {}, { zip: 'DEF' });
  await expectUnreadable(compressed, 'extension');
  for (const wrong of [{ sessionId: randomUUID() }, { try: 2 }, { expiresAt: '2026-03-01T10:00:00.000Z' }])
    await expectRefused(
      await encryptedCard(processor.cardKey, { ...right, ...wrong }),
      'The card was encrypted for another page. Reload the page and try again.',
    );

  expect(await processor.pay(payable)).toMatchObject({ state: 'success', payable: { tries: 1 } });
});

test('the error of an invalid card names its fields, and no try is used', async () => {
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

const PAYER = {
  address: '203.0.113.7',
  browser: { userAgent: 'Karoobrowser/7', language: 'af-x-karoo', screenWidth: 1441, timeZoneOffsetMinutes: -120 },
};

test('the bank gets the payer’s context, in memory only; it also charges without one', async () => {
  const charge = jest.spyOn(processor.service.app.get(Acquirer), 'charge');
  try {
    const { paymentReference } = await processor.pay(aPayable(), { command: { payer: PAYER } });
    expect(charge.mock.calls.map(([{ payer }]) => payer)).toEqual([PAYER]);
    const lines = readFileSync(processor.books, 'utf8')
      .split('\n')
      .filter((line) => line.includes(paymentReference));
    expect(lines.map((line) => (JSON.parse(line) as { payerContext: unknown }).payerContext)).toEqual([
      ['address', 'browser.language', 'browser.screenWidth', 'browser.timeZoneOffsetMinutes', 'browser.userAgent'],
    ]);
    expect(await processor.pay(aPayable())).toMatchObject({ state: 'success' });
    expect(charge.mock.calls[1]![0].payer).toBeUndefined();
  } finally {
    charge.mockRestore();
  }
});

test('card data and the payer’s context are in no table', async () => {
  const payable = aPayable();
  await processor.pay(payable, { card: '5555555555554444', command: { payer: PAYER } });
  const tables = await processor.dataSource.query<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
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
  for (const text of ['5555555555554444', '203.0.113.7', 'Karoobrowser', 'af-x-karoo'])
    expect(await containing(text)).toEqual([]);
});
