/** Captures that the acquirer does not execute: they end, and no reservation stays open. */
import { PaymentReversedV1 } from '@svc/contracts';
import { planOf } from '@svc/testing';
import { SeparateAcquirer } from '../../test/acquirers/separate-acquirer.js';
import { readLedger } from '../../test/books/ledger.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CaptureRepository } from './capture.repository.js';

let processor: Processor;
let acquirer: SeparateAcquirer;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = new SeparateAcquirer(processor);
});
afterEach(() => processor.stop());

const readCapture = async ({ paymentReference }: { paymentReference: string }): Promise<unknown> => {
  const [row] = await processor.dataSource.query<unknown[]>(
    `SELECT c.state, c.requests, c.acquirer_reference AS reference
       FROM captures c JOIN payments p USING (payment_id) WHERE p.payment_reference = $1`,
    [paymentReference],
  );
  return row;
};
const readIncidents = async (): Promise<string[]> => {
  const rows = await processor.dataSource.query<{ response: string }[]>(
    `SELECT response FROM incidents WHERE attempt_state = 'approved' ORDER BY 1`,
  );
  return rows.map(({ response }) => response);
};
const keyNumbers = () => acquirer.capture.mock.calls.map(([{ keyNumber }]) => keyNumber);

describe('a capture that the acquirer rejects', () => {
  const readRelease = async (): Promise<unknown> => {
    const [row] = await processor.dataSource.query<unknown[]>(
      `SELECT failure, next_release_at IS NOT NULL AS "isDue", released_at IS NOT NULL AS "isReleased" FROM captures`,
    );
    return row;
  };
  async function payAndRefuse(): Promise<{ paymentReference: string }> {
    const payment = await processor.pay(buildPayable());
    await acquirer.requestCaptures();
    expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'refused' })).toBe('applied');
    return payment;
  }

  test('for a day has failed: it is booked back, told, and its reservation is released until the acquirer confirms that', async () => {
    const payment = await processor.pay(buildPayable());
    acquirer.capture.mockResolvedValue({ kind: 'rejected' });
    for (let hour = 0; hour < 24; hour++) {
      expect(await acquirer.requestCaptures()).toBe(1);
      processor.clock.advance(3_600_000);
    }
    expect(await readCapture(payment)).toMatchObject({ state: 'due', requests: 24 });
    expect(await processor.published(PaymentReversedV1)).toEqual([]);
    await acquirer.requestCaptures();
    expect(await readCapture(payment)).toMatchObject({ state: 'failed', requests: 25 });
    expect(await readIncidents()).toEqual(['captureFailed', 'captureRejected']);
    expect((await processor.published(PaymentReversedV1)).map(({ payload }) => payload)).toEqual([
      { ...payment, reversedUTCDate: processor.clock.nowISO(), captureFailed: true },
    ]);
    expect((await readLedger(processor, payment)).map(({ kind }) => kind)).toEqual(['capture', 'reversal']);

    expect(acquirer.reversals).toEqual([
      {
        account: { mode: 'test', accountReference: 'merchant-1001' },
        chargeKey: expect.any(String),
        paymentReference: payment.paymentReference,
      },
    ]);
    processor.clock.advance(29_999);
    expect(await acquirer.requestCaptures()).toBe(0);
    processor.clock.advance(1);
    expect(await acquirer.requestCaptures()).toBe(1);
    expect(acquirer.reversals).toHaveLength(2);
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('applied');
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('none');
    expect(await readRelease()).toEqual({ failure: 'rejected', isDue: false, isReleased: true });
    processor.clock.advance(86_400_000);
    expect(await acquirer.requestCaptures()).toBe(0);
    expect(await processor.published(PaymentReversedV1)).toHaveLength(1);
  });

  test('at once has failed, and its reservation is released', async () => {
    const payment = await payAndRefuse();
    expect(await readCapture(payment)).toMatchObject({ state: 'failed' });
    expect(await acquirer.requestCaptures()).toBe(1);
    expect(acquirer.reversals).toMatchObject([{ paymentReference: payment.paymentReference }]);
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'notFound' })).toBe('applied');
    expect(await readRelease()).toEqual({ failure: 'rejected', isDue: false, isReleased: true });
  });

  test('is no longer released after 28 days, and its release is an incident after one day', async () => {
    const payment = await payAndRefuse();
    processor.clock.advance(86_399_000);
    await acquirer.requestCaptures();
    expect(await readIncidents()).toEqual(['captureFailed']);
    processor.clock.advance(3_600_000);
    await acquirer.requestCaptures();
    expect(await readIncidents()).toEqual(['captureFailed', 'unconfirmed']);
    processor.clock.advance(27 * 86_400_000);
    expect(await acquirer.requestCaptures()).toBe(1);
    expect(acquirer.reversals).toHaveLength(2);
    expect(await readRelease()).toEqual({ failure: 'rejected', isDue: false, isReleased: false });
    expect(await acquirer.reportPayment(payment, { kind: 'reversal', outcome: 'reversed' })).toBe('none');
  });

  test('is an incident when its money is taken later', async () => {
    const payment = await payAndRefuse();
    expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' })).toBe('incident');
    expect(await readCapture(payment)).toMatchObject({ state: 'failed' });
  });

  test('after another request, whose outcome is unknown, is requested again, and the outcome of the other one counts', async () => {
    const payment = await processor.pay(buildPayable());
    acquirer.capture.mockResolvedValueOnce({ kind: 'unknown', isAnswered: true });
    await acquirer.requestCaptures();
    processor.clock.advance(1_000);
    await acquirer.requestCaptures();
    expect(await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'refused' })).toBe('applied');
    expect(await readCapture(payment)).toMatchObject({ state: 'due', reference: null });
    expect(await readIncidents()).toEqual(['captureRejected']);
    processor.clock.advance(3_600_000);
    await acquirer.requestCaptures();
    expect(keyNumbers()).toEqual([1, 2, 3]);
    const whole = { kind: 'capture', outcome: 'captured', amount: 12_345, currencyISOCode: 'ZAR' } as const;
    for (const difference of [{ amount: 12_344 }, { currencyISOCode: 'USD' }, { outcome: 'failed' as const }])
      expect(await acquirer.reportPayment(payment, { ...whole, acquirerReference: 'capture-0', ...difference })).toBe(
        'incident',
      );
    const refused = { ...whole, outcome: 'refused', acquirerReference: 'capture-0' } as const;
    expect(await acquirer.reportPayment(payment, refused)).toBe('none');
    expect(await readCapture(payment)).toMatchObject({ state: 'requested', reference: 'capture-1' });
    expect(await acquirer.reportPayment(payment, { ...whole, acquirerReference: 'capture-0' })).toBe('applied');
    expect(await readCapture(payment)).toMatchObject({ state: 'captured', reference: 'capture-0' });
    expect(
      await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed', acquirerReference: 'capture-0' }),
    ).toBe('applied');
  });

  test('has no effect when the capture was decided, or requested again, in the meantime', async () => {
    const payment = await processor.pay(buildPayable());
    const captures = processor.service.app.get(CaptureRepository);
    const [capture] = await captures.leaseDue('simulated', processor.clock.later(30_000), 50);
    const { attemptId } = capture!;
    await captures.postpone(attemptId, processor.clock.now(), 1);
    await captures.postpone(attemptId, processor.clock.now(), 1);
    expect(await captures.requestAgain(capture!, processor.clock.now())).toBe(false);
    expect(await captures.requestAgain({ attemptId, keyNumber: 2 }, processor.clock.now())).toBe(true);
    await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'captured' });
    expect(await captures.requestAgain({ attemptId, keyNumber: 3 }, processor.clock.now())).toBe(false);
    expect(await captures.fail(capture!, 'rejected')).toBe(false);
    expect(await captures.endRelease(attemptId, { isReleased: true })).toBe(false);
    expect(await readCapture(payment)).toMatchObject({ state: 'captured' });
    expect(await captures.fail(capture!, 'cardScheme')).toBe(true);
    expect(await captures.fail(capture!, 'cardScheme')).toBe(false);
    expect(await captures.leaseReleases('simulated', processor.clock.later(30_000), 50)).toEqual([]);
  });

  test('is found by the time of its release', async () => {
    const captures = processor.service.app.get(CaptureRepository);
    const lease = () => captures.leaseReleases('simulated', processor.clock.later(30_000), 50);
    const text = await planOf(processor.dataSource, lease);
    expect(text).not.toContain('Seq Scan');
    expect(text).toContain('captures_to_release');
  });

  test('is released by one of three concurrent jobs of its acquirer, in its mode', async () => {
    await processor.pay(buildPayable());
    await processor.dataSource.query(`UPDATE payables SET mode = 'live'`);
    await payAndRefuse();
    const captures = processor.service.app.get(CaptureRepository);
    const lease = (name: string) => captures.leaseReleases(name, processor.clock.later(30_000), 50);
    expect(await lease('other')).toEqual([]);
    const leases = await Promise.all([1, 2, 3].map(() => lease('simulated')));
    expect(leases.map(({ length }) => length).toSorted()).toEqual([0, 0, 1]);
    expect(leases.flat()).toMatchObject([{ account: { mode: 'test', accountReference: 'merchant-1001' } }]);
  });
});

test('a capture that the acquirer repeats by itself after its failure is an incident', async () => {
  const payment = await processor.pay(buildPayable());
  await acquirer.requestCaptures();
  await acquirer.reportPayment(payment, { kind: 'capture', outcome: 'failed' });
  const report = { kind: 'capture', outcome: 'captured', isRecapture: true } as const;
  expect(await acquirer.reportPayment(payment, report)).toBe('incident');
  expect(await acquirer.requestCaptures()).toBe(0);
  expect(acquirer.reversals).toEqual([]);
});
