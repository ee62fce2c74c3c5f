import { PaymentReversedV1 } from '@svc/contracts';
import type { Fault } from '../acquirer-driver.js';
import type { ContractWorld } from '../contract-world.js';
import type { ContractCases } from './contract-case.js';

const DAY_MS = 24 * 60 * 60_000;

async function expectCapturedOnce(world: ContractWorld, fault: Fault): Promise<void> {
  await world.driver.causeFault('capture', fault);
  const { paymentReference } = await world.pay();
  // The request is repeated before a report arrives.
  world.deliversReports = false;
  await world.runJobs();
  await world.runJobsAfter(1_000);
  expect(world.driver.countCalls('capture')).toBeGreaterThan(1);
  world.deliversReports = true;
  await world.settle();
  expect((await world.driver.readRecords(paymentReference)).heldAmount).toBe(12_345);
}

/** The payment stays a success, and its reversal is published. */
async function expectCaptureFailed(world: ContractWorld, paymentReference: string): Promise<void> {
  expect(await world.readStates(paymentReference)).toMatchObject({ payment: 'success', payable: 'paid' });
  expect(await world.readIncidents(paymentReference)).toContain('captureFailed');
  const reversed = (await world.processor.published(PaymentReversedV1)).filter(
    ({ payload }) => payload.paymentReference === paymentReference,
  );
  expect(reversed.map(({ payload }) => payload)).toMatchObject([{ captureFailed: true }]);
}

export const CAPTURE_CASES: ContractCases = {
  'an approval is captured once': async (world) => {
    const { paymentReference } = await world.pay();
    expect(await world.driver.readRecords(paymentReference)).toMatchObject({ heldAmount: 0, openAuthorisations: 1 });
    await world.settle();
    expect(world.driver.countCalls('capture')).toBe(1);
    expect(await world.driver.readRecords(paymentReference)).toMatchObject({
      heldAmount: 12_345,
      openAuthorisations: 0,
    });
  },
  'a request to capture is lost': (world) => expectCapturedOnce(world, 'requestLost'),
  'the response to a capture is lost': (world) => expectCapturedOnce(world, 'responseLost'),
  'a request to capture meets an error of the server': (world) => expectCapturedOnce(world, 'serverErrorAfterwards'),

  'a capture fails at once': async (world) => {
    await world.driver.failNext('capture');
    const { paymentReference } = await world.pay();
    await world.settle();
    await expectCaptureFailed(world, paymentReference);
    // The reservation is released.
    expect((await world.driver.readRecords(paymentReference)).openAuthorisations).toBe(0);
  },

  'a capture fails days later': async (world) => {
    const { paymentReference } = await world.pay();
    await world.settle();
    await world.runJobsAfter(2 * DAY_MS);
    await world.driver.failCapture(paymentReference);
    await world.settle();
    await expectCaptureFailed(world, paymentReference);
    const { status } = await world.refund(paymentReference, 100);
    expect(status).toBe(422);
  },
};
