import { context, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { FindPaymentsV1, type TimelineSubject, type TracedPayment, TracePaymentV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { planOf } from '@svc/testing';
import { createOpenAttempt } from '../../test/attempts/open-attempt.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { AttemptRepository } from '../payments/attempt.repository.js';
import { findPayments } from './find-payments.query.js';
import { findPaymentRecords } from './payment-records.query.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const find = async (request: Parameters<typeof findPayments>[1]): Promise<TimelineSubject[]> =>
  (await processor.service.app.get(Commands).request(FindPaymentsV1, request)).payments;
const tracePayment = (paymentReference: string): Promise<TracedPayment> =>
  processor.service.app.get(Commands).request(TracePaymentV1, { paymentReference });

test('a payment without an outcome is found by its reference, its session and its code', async () => {
  const payable = buildPayable();
  const { payment, attemptId } = await createOpenAttempt(processor, payable);
  const { paymentReference } = payment;
  const expected = [
    expect.objectContaining({
      ...{ kind: 'payment', reference: paymentReference, state: 'processing', payableId: payable.payableId },
      ...{ merchantId: payable.merchantId, orderReference: payable.source.merchantOrderId, code: payable.source.code },
    }),
  ];
  expect(await find({ paymentReference })).toEqual(expected);
  expect(await find({ payableId: payable.payableId })).toEqual(expected);
  expect((await find({ code: payable.source.code })).map(({ reference }) => reference)).toContain(paymentReference);
  for (const nothing of [{}, { payableId: 'x' }, { code: '1' }]) expect(await find(nothing)).toEqual([]);

  await processor.service.app.get(AttemptRepository).markUnknown(attemptId, processor.clock.later(60_000));
  const { steps } = await tracePayment(paymentReference);
  expect(steps.map(({ event, isOpen }) => [event, isOpen])).toEqual([
    ['payment accepted', undefined],
    ['acquirer called', true],
  ]);
  expect(steps[1]!.details).toEqual(
    expect.arrayContaining([
      { name: 'state', value: 'unknown' },
      { name: 'next query', value: processor.clock.later(60_000).toISOString() },
    ]),
  );
});

test('an unknown reference is not found', async () => {
  const unknown = newPaymentReference(processor.clock.now());
  await expect(tracePayment(unknown)).rejects.toMatchObject({ code: 'resource.not-found' });
});

test('a refused payment has the acquirer’s own code, and an attempt the trace of its request', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  try {
    const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const inTrace = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED });
    const { paymentReference } = await context.with(inTrace, () =>
      processor.pay(buildPayable(), { card: '4000000000009995' }),
    );
    const { steps } = await tracePayment(paymentReference);
    expect(steps.find(({ event }) => event === 'acquirer called')).toMatchObject({ traceId });
    expect(steps.find(({ event }) => event === 'acquirer declined')!.details).toContainEqual({
      ...{ name: 'code', value: 'insufficient-funds' },
    });
    const untraced = await processor.pay(buildPayable());
    for (const step of (await tracePayment(untraced.paymentReference)).steps)
      expect(step).not.toHaveProperty('traceId');
  } finally {
    context.disable();
  }
});

test('the records of a payment are read by keys', async () => {
  const { dataSource } = processor;
  const { paymentReference } = await processor.pay(buildPayable());
  const plans = [
    await planOf(dataSource, () => findPayments(dataSource, { paymentReference })),
    await planOf(dataSource, () => findPayments(dataSource, { payableId: buildPayable().payableId })),
    await planOf(dataSource, () => findPayments(dataSource, { code: '1' })),
  ];
  for (const part of ['WHERE p.payment_reference', 'LEFT JOIN captures', 'refund_incidents', 'FROM refunds r WHERE'])
    plans.push(await planOf(dataSource, () => findPaymentRecords(dataSource, paymentReference), part));
  for (const part of ['JOIN dispute_reports', 'JOIN dispute_changes', 'JOIN settlement_lines'])
    plans.push(await planOf(dataSource, () => findPaymentRecords(dataSource, paymentReference), part));
  for (const plan of plans) {
    expect(plan).toMatch(/Index (?:Only )?Scan/);
    expect(plan).not.toMatch(/Seq Scan/);
  }
  expect(plans.at(-1)).toMatch(/settlement_lines_of_movement/);
});
