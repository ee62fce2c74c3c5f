import { TestEmulator } from '../../../test/running-emulator.js';
import { DISPUTE_STAGES } from './dispute-stages.js';

const emulator = new TestEmulator();
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => expect(emulator.webhookProblems).toEqual([]));

const move = (pspReference: string, eventCode: string, value?: number) =>
  emulator.control('POST', `/payments/${pspReference}/disputes`, { eventCode, ...(value ? { value } : {}) });

test('all stages of a dispute have its PSP reference, and the payment’s as original reference', async () => {
  const reference = emulator.newReference();
  const pspReference = await emulator.capture({ reference });
  const stages = DISPUTE_STAGES.map(({ eventCode }) => eventCode);
  for (const eventCode of stages) expect((await move(pspReference, eventCode)).status).toBe(200);
  const items = await emulator.received(...stages);
  expect(items.map(({ eventCode }) => eventCode).sort()).toEqual([...stages].sort());
  expect(new Set(items.map((item) => item.pspReference)).size).toBe(1);
  for (const item of items)
    expect(item).toMatchObject({
      originalReference: pspReference,
      merchantReference: reference,
      success: 'true',
      amount: { currency: 'ZAR', value: 12345 },
      additionalData: { defensePeriodEndsAt: '2026-03-19T11:00:00+01:00' },
    });
  const statuses = Object.fromEntries(items.map((item) => [item.eventCode, item.additionalData['disputeStatus']]));
  expect(statuses).toMatchObject({ CHARGEBACK: 'Unresponded', PREARBITRATION_LOST: 'Lost', PREARBITRATION_WON: 'Won' });
});

test('a part of a payment can be disputed, but not more than was captured', async () => {
  const pspReference = await emulator.capture();
  expect((await move(pspReference, 'CHARGEBACK', 345)).body['amount']).toEqual({ currency: 'ZAR', value: 345 });
  const other = await emulator.capture();
  expect((await move(other, 'CHARGEBACK', 99999)).body['amount']).toEqual({ currency: 'ZAR', value: 12345 });
});

test('stages that contradict the debit are not possible', async () => {
  const pspReference = await emulator.capture();
  const statuses: number[] = [];
  for (const eventCode of [
    'CHARGEBACK_REVERSED',
    'SECOND_CHARGEBACK',
    'CHARGEBACK',
    'CHARGEBACK',
    'SECOND_CHARGEBACK',
    'CHARGEBACK_REVERSED',
    'CHARGEBACK_REVERSED',
    'SECOND_CHARGEBACK',
  ])
    statuses.push((await move(pspReference, eventCode)).status);
  expect(statuses).toEqual([409, 409, 200, 409, 409, 200, 409, 200]);
});

test('a payment that is not captured cannot be disputed', async () => {
  expect((await move(await emulator.authorise(), 'CHARGEBACK')).status).toBe(409);
  expect((await move('UNKNOWN', 'CHARGEBACK')).status).toBe(404);
  expect((await move(await emulator.capture(), 'UNKNOWN')).status).toBe(400);
});
