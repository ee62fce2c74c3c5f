import { type Counter, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { changeRow, createOpenAttempt, readPaymentRows } from '../../test/attempts/open-attempt.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { AcquirerResponse } from './attempt.js';
import type { OpenAttempt } from './attempt.repository.js';
import { SettleAttempt } from './settle-attempt.js';

const countedIncidents: { name: string; attributes: unknown }[] = [];
const createCounter = (name: string): Counter => ({
  add: (_, attributes) => void (name === 'svc.payments.incidents' && countedIncidents.push({ name, attributes })),
});
let processor: Processor;
beforeAll(async () => {
  const noopMeter = metrics.getMeter('none');
  const meter = Object.assign(Object.create(noopMeter) as Meter, { createCounter });
  metrics.setGlobalMeterProvider({ getMeter: () => meter } satisfies MeterProvider);
  processor = await startProcessor();
});
afterAll(async () => {
  metrics.disable();
  await processor.stop();
});
beforeEach(() => countedIncidents.splice(0));

const settle = (attempt: OpenAttempt, response: AcquirerResponse) =>
  processor.service.app.get(SettleAttempt).execute(attempt, response);
const readIncidents = ({ attemptId }: OpenAttempt): Promise<unknown[]> =>
  processor.dataSource.query(
    `SELECT attempt_state, response, acquirer_reference, occurrences, first_seen_at, last_seen_at FROM incidents WHERE attempt_id = $1`,
    [attemptId],
  );
const APPROVED: AcquirerResponse = { kind: 'approved', acquirerReference: 'a-1' };

test('a response that contradicts the attempt is recorded as a row, a metric and a log entry, and changes nothing else', async () => {
  const openAttempt = await createOpenAttempt(processor);
  await settle(openAttempt, APPROVED);
  const before = await readPaymentRows(processor, openAttempt.paymentId);
  const logSpy = jest.spyOn(processor.service.app.get<ServiceLog>(SERVICE_LOG), 'error');
  const firstSeen = processor.clock.now();
  await settle(openAttempt, { kind: 'reversed' });
  processor.clock.advance(1_000);
  await settle(openAttempt, { kind: 'reversed' });

  expect(await readPaymentRows(processor, openAttempt.paymentId)).toEqual(before);
  expect(await readIncidents(openAttempt)).toEqual([
    {
      attempt_state: 'approved',
      response: 'reversed',
      acquirer_reference: null,
      occurrences: 2,
      first_seen_at: firstSeen,
      last_seen_at: processor.clock.now(),
    },
  ]);
  const attributes = { state: 'approved', response: 'reversed' };
  expect(countedIncidents).toEqual(Array(2).fill({ name: 'svc.payments.incidents', attributes }));
  const { attemptId, payment } = openAttempt;
  expect(logSpy.mock.calls.map(([fields]) => fields)).toEqual(
    Array(2).fill({ ...attributes, attemptId, paymentReference: payment.paymentReference }),
  );
  logSpy.mockRestore();
});

test('a second approval with another reference is an incident and is not reversed', async () => {
  const openAttempt = await createOpenAttempt(processor);
  await settle(openAttempt, APPROVED);
  await settle(openAttempt, { kind: 'approved', acquirerReference: 'a-2' });
  expect(await readIncidents(openAttempt)).toMatchObject([
    { attempt_state: 'approved', response: 'approved', acquirer_reference: 'a-2' },
  ]);
  expect(
    await processor.dataSource.query(`SELECT FROM reversals WHERE attempt_id = $1`, [openAttempt.attemptId]),
  ).toEqual([]);
});

test('an outcome that the state of the payment or the payable does not allow is also recorded as an incident', async () => {
  const openAttempt = await createOpenAttempt(processor);
  await changeRow(processor, `UPDATE payables SET version = version + 1 WHERE holder = $1`, openAttempt.paymentId);
  expect(await settle(openAttempt, APPROVED)).toBeUndefined();
  expect(await readIncidents(openAttempt)).toMatchObject([
    { attempt_state: 'started', response: 'approved', acquirer_reference: 'a-1' },
  ]);
  expect(countedIncidents).toHaveLength(1);
});

test('a repeated or unclear response is not recorded as an incident', async () => {
  const openAttempt = await createOpenAttempt(processor);
  for (const response of [APPROVED, APPROVED, { kind: 'unknown' }, { kind: 'notFound' }] as const)
    await settle(openAttempt, response);
  expect([await readIncidents(openAttempt), countedIncidents]).toEqual([[], []]);
  expect(await readPaymentRows(processor, openAttempt.paymentId)).toMatchObject({ payment: 'success', events: 2 });
});

test('if the acquirer has reversed a charge without a request, the service also requests the reversal, and the payment fails after the confirmation', async () => {
  const openAttempt = await createOpenAttempt(processor);
  expect(await settle(openAttempt, { kind: 'reversed' })).toBeUndefined();
  expect(await readPaymentRows(processor, openAttempt.paymentId)).toMatchObject({
    attempts: ['reversing'],
    payment: 'processing',
  });
  await processor.recoverAttempts();
  expect(await readPaymentRows(processor, openAttempt.paymentId)).toMatchObject({ payment: 'failed', payable: 'open' });
  expect(await readIncidents(openAttempt)).toEqual([]);
});
