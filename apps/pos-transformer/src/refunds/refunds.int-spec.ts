import { waitUntil } from '@svc/testing';
import { OTHER_SITE, SITE, TestTransformer } from '../../test/test-transformer.js';
import { AlertRepository } from '../platform/alert.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const AMOUNT_EXCEEDED = { code: 'refund.amount-exceeded', errors: [{ message: 'More than is left.' }] };

const alertMessages = (): string[] =>
  pos.transformer.app
    .get(AlertRepository)
    .list(SITE, '')
    .map(({ message }) => message);

/** Creates and pays a basket of R 10.00. Returns the SvcId of the payment. */
async function createPaidBasket(reference = '17'): Promise<string> {
  await pos.sendBasket(reference, 1_000);
  return pos.pay();
}

describe('T10: a SvcRefund request', () => {
  it('creates a refund at the platform with a new idempotency key', async () => {
    const svcId = await createPaidBasket();
    expect(await pos.requestRefund(svcId, 400)).toMatchObject({ status: 200, body: { Result: 'OK', Message: '' } });
    expect(pos.platform.refunds).toMatchObject([
      { svcId, body: { amount: 400 }, key: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
  });

  it('gets a WARN and creates no second refund if it is repeated within two minutes', async () => {
    const svcId = await createPaidBasket();
    await pos.requestRefund(svcId, 400);
    pos.clock.advance(120_000);
    expect((await pos.requestRefund(svcId.toLowerCase(), 400)).body).toEqual({
      Result: 'WARN',
      Message: expect.stringContaining('requested before'),
    });
    expect(pos.platform.refunds).toHaveLength(1);
    pos.clock.advance(1);
    expect((await pos.requestRefund(svcId, 400)).body.Result).toBe('OK');
    expect(pos.platform.refunds).toHaveLength(2);
  });

  it('never creates a second refund if it has the RefundReference of an earlier request', async () => {
    const svcId = await createPaidBasket();
    expect((await pos.requestRefund(svcId, 400, 'R-1')).body.Result).toBe('OK');
    expect((await pos.requestRefund(svcId, 400, 'R-2')).body.Result).toBe('OK');
    pos.clock.advance(3_600_000);
    expect((await pos.requestRefund(svcId, 400, 'R-1')).body.Result).toBe('WARN');
    expect((await pos.requestRefund(svcId, 300, 'R-1')).body).toEqual({
      Result: 'STOP',
      Message: 'This RefundReference was used for another refund.',
    });
    expect(pos.platform.refunds).toHaveLength(2);
  });

  it('creates one refund if it is sent twice at the same time', async () => {
    const svcId = await createPaidBasket();
    const answers = await Promise.all([pos.requestRefund(svcId, 400), pos.requestRefund(svcId, 400)]);
    expect(answers.map(({ body }) => body.Result).sort()).toEqual(['OK', 'WARN']);
    expect(pos.platform.refunds).toHaveLength(1);
  });

  it('gets a STOP if its amount exceeds the remaining amount', async () => {
    const svcId = await createPaidBasket();
    await pos.requestRefund(svcId, 600);
    expect((await pos.requestRefund(svcId, 401)).body).toEqual({
      Result: 'STOP',
      Message: 'This is more than is left of the payment of R 10.00.',
    });
    expect((await pos.requestRefund(svcId, 400)).body.Result).toBe('OK');
    // The back office has refunded this payment meanwhile, and the store has no record of that refund. Therefore only
    // the platform can refuse the till's refund.
    const refundedElsewhere = await createPaidBasket('18');
    pos.platform.nextErrors.push({ method: 'POST', status: 422, body: AMOUNT_EXCEEDED });
    expect((await pos.requestRefund(refundedElsewhere, 1_000)).body).toEqual({
      Result: 'STOP',
      Message: expect.stringContaining('More than is left.'),
    });
    expect((await pos.requestRefund(refundedElsewhere, 1_000)).body.Message).toContain('requested before');
    pos.clock.advance(120_001);
    expect((await pos.requestRefund(refundedElsewhere, 1_000)).body.Result).toBe('OK');
  });

  it.each([0, -100, 1.5])('gets a STOP if its amount is %d cents', async (amount) => {
    const svcId = await createPaidBasket();
    expect(await pos.requestRefund(svcId, amount)).toMatchObject({ status: 200, body: { Result: 'STOP' } });
    expect(pos.platform.refunds).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['SvcId', { RefundAmount: 100 }],
    ['RefundAmount', { SvcId: 'x', RefundAmount: '100' }],
    ['RefundReference', { SvcId: 'x', RefundAmount: 100, RefundReference: 7 }],
  ])('gets a 400 that names the field if it has no valid %s', async (field, body) => {
    const reply = await pos.call('POST', '/SvcRefund', body);
    expect(reply).toMatchObject({ status: 400, body: { Result: 'STOP', Message: expect.stringContaining(field) } });
  });

  it('gets a STOP if the payment was made at another site', async () => {
    await pos.sendLine({}, undefined, OTHER_SITE);
    await pos.sendTotal(8_950, '17', undefined, OTHER_SITE);
    const svcId = await pos.pay();
    expect((await pos.requestRefund(svcId, 100)).body).toEqual({
      Result: 'STOP',
      Message: 'There is no such payment.',
    });
    expect(pos.platform.refunds).toEqual([]);
  });

  it('gets a STOP if the payment is unknown or failed', async () => {
    expect((await pos.requestRefund('nonsense', 100)).body).toEqual({
      Result: 'STOP',
      Message: 'There is no such payment.',
    });
    expect((await pos.requestRefund('1VQ5K3P0ABCDEFGHJ0', 100)).body.Result).toBe('STOP');
    await pos.sendBasket('17', 1_000);
    const failed = await pos.pay(pos.openInvoice(), { status: 2 });
    expect((await pos.requestRefund(failed, 100)).body.Result).toBe('STOP');
    expect(pos.platform.refunds).toEqual([]);
  });

  it('reads a payment that is not in the store from the platform, and gets a STOP while offline', async () => {
    await pos.sendBasket('17', 1_000);
    const { paymentReference } = pos.platform.pay(pos.openInvoice());
    pos.platform.outage = 'unreachable';
    expect((await pos.requestRefund(paymentReference, 100)).body).toEqual({
      Result: 'STOP',
      Message: expect.stringContaining('cannot be reached'),
    });
    pos.platform.outage = undefined;
    expect((await pos.requestRefund(paymentReference, 100)).body.Result).toBe('OK');
    expect((await pos.getPayment('17')).body.SvcId).toBe(paymentReference);
  });

  it('is queued with a warning while offline, and is sent once after the outage, even after a restart', async () => {
    const svcId = await createPaidBasket();
    pos.platform.outage = 'unreachable';
    const queued = { Result: 'WARN', Message: expect.stringContaining('Hand out no cash') };
    expect((await pos.requestRefund(svcId, 400)).body).toEqual(queued);
    expect((await pos.requestRefund(svcId, 400)).body).toEqual(queued);
    await pos.restart();
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    await pos.sendPostponedCalls();
    expect(pos.platform.refunds).toMatchObject([{ svcId, body: { amount: 400 } }]);
  });

  it('is retried with the same idempotency key after a lost response, so it creates one refund', async () => {
    const svcId = await createPaidBasket();
    pos.platform.outage = 'lost-responses';
    expect((await pos.requestRefund(svcId, 400)).body.Result).toBe('WARN');
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.refunds).toHaveLength(1);
    expect((await pos.requestRefund(svcId, 700)).body.Result).toBe('STOP');
  });

  it.each([
    ['failed', true],
    ['succeeded', false],
    ['pending', false],
  ] as const)(
    'causes an alert if the bank answers %s after the till got its response: %s',
    async (status, hasAlert) => {
      const svcId = await createPaidBasket();
      pos.platform.nextErrors.push({ method: 'POST', status: 500 });
      expect((await pos.requestRefund(svcId, 400)).body.Message).toContain('The refund is queued');
      pos.platform.newRefundStatus = status;
      await pos.sendPostponedCalls();
      expect(pos.platform.refunds).toMatchObject([{ svcId, status }]);
      const message = `The refund of R 4.00 for ${svcId} was not made: The bank declined it`;
      expect(alertMessages()).toEqual(hasAlert ? [message] : []);
    },
  );

  it('creates no second refund if it is repeated while the first request is still queued', async () => {
    const svcId = await createPaidBasket();
    pos.platform.outage = 'unreachable';
    await pos.requestRefund(svcId, 400);
    await pos.sendPostponedCalls(180_000);
    expect((await pos.requestRefund(svcId, 400)).body.Message).toContain('requested before');
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.refunds).toHaveLength(1);
  });

  it.each([400, 404])(
    'creates one refund if its response is lost and a proxy refuses the retry with %d',
    async (status) => {
      const svcId = await createPaidBasket();
      pos.platform.outage = 'lost-responses';
      await pos.requestRefund(svcId, 400);
      pos.platform.outage = undefined;
      pos.platform.nextErrors.push({ method: 'POST', status });
      await pos.sendPostponedCalls();
      expect((await pos.requestRefund(svcId, 400)).body.Message).toContain('Hand out no cash');
      await pos.sendPostponedCalls();
      expect((await pos.requestRefund(svcId, 700)).body.Result).toBe('STOP');
      expect(pos.platform.refunds).toHaveLength(1);
    },
  );

  it('still reduces the refundable amount after its call was given up', async () => {
    const svcId = await createPaidBasket();
    pos.platform.nextErrors.push(...Array.from({ length: 50 }, () => ({ method: 'POST', status: 500 })));
    await pos.requestRefund(svcId, 400);
    for (let attempt = 1; attempt < 50; attempt++) await pos.sendPostponedCalls();
    expect(pos.platform.nextErrors).toEqual([]);
    expect((await pos.requestRefund(svcId, 400)).body).toEqual({
      Result: 'WARN',
      Message: expect.stringContaining('not known whether this refund was made'),
    });
    expect((await pos.requestRefund(svcId, 601)).body.Result).toBe('STOP');
    expect(pos.platform.refunds).toEqual([]);
  });

  it('gets a STOP if the bank declines it, and may be repeated after two minutes', async () => {
    const svcId = await createPaidBasket();
    pos.platform.newRefundStatus = 'failed';
    expect((await pos.requestRefund(svcId, 400)).body).toEqual({
      Result: 'STOP',
      Message: expect.stringContaining('declined'),
    });
    expect(alertMessages()).toEqual([]);
    pos.platform.newRefundStatus = 'pending';
    expect((await pos.requestRefund(svcId, 400)).body.Result).toBe('STOP');
    expect(pos.platform.refunds).toHaveLength(1);
    pos.clock.advance(120_001);
    await pos.startStreams();
    expect((await pos.requestRefund(svcId, 400)).body).toEqual({
      Result: 'WARN',
      Message: expect.stringContaining('has not decided'),
    });
    pos.platform.decideRefund(pos.platform.refunds[1]!, 'succeeded');
    await waitUntil('the outcome of the refund', 5_000, async () =>
      (await pos.requestRefund(svcId, 400)).body.Message.startsWith('The same refund'),
    );
    expect(pos.platform.refunds).toHaveLength(2);
  });

  it.each<[string, 'succeeded' | 'failed']>([
    ['WARN', 'succeeded'],
    ['STOP', 'failed'],
  ])('gets a %s if it is repeated after polling has found that the refund %s', async (result, status) => {
    const svcId = await createPaidBasket();
    pos.platform.newRefundStatus = 'pending';
    expect((await pos.requestRefund(svcId, 400, 'R-1')).body.Message).toContain('has not decided');
    pos.platform.decideRefund(pos.platform.refunds[0]!, status);
    await pos.pollRefunds();
    expect((await pos.requestRefund(svcId, 400, 'R-1')).body.Message).toContain('has not decided');
    pos.clock.advance(10_000);
    await pos.pollRefunds();
    const { body } = await pos.requestRefund(svcId, 400, 'R-1');
    expect(body.Message).not.toContain('has not decided');
    expect(body.Result).toBe(result);
  });

  it('causes one poll a minute while its refund is pending', async () => {
    const svcId = await createPaidBasket();
    pos.platform.newRefundStatus = 'pending';
    await pos.requestRefund(svcId, 400);
    const countPolls = (): number =>
      pos.platform.requests.filter(({ method, path }) => method === 'GET' && path.startsWith('/refunds')).length;
    pos.clock.advance(59_000);
    for (let round = 0; round < 3; round++) await pos.pollRefunds();
    expect(countPolls()).toBe(1);
    pos.clock.advance(60_000);
    await pos.pollRefunds();
    expect(countPolls()).toBe(2);
  });
});
