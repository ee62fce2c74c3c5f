import type { Fault } from '../acquirer-driver.js';
import type { ContractWorld } from '../contract-world.js';
import type { ContractCases } from './contract-case.js';

const DAY_MS = 24 * 60 * 60_000;

async function payAndCapture(
  world: ContractWorld,
  behaviour: 'approved' | 'refundDeclined' | 'refundPending' = 'approved',
) {
  const payment = await world.pay(behaviour);
  await world.settle();
  return payment;
}

async function readRefunds({ processor }: ContractWorld, paymentReference: string): Promise<string[]> {
  const rows = await processor.dataSource.query<{ refund: string }[]>(
    `SELECT r.state || CASE WHEN r.returned_at IS NULL THEN '' ELSE ', returned' END AS refund
       FROM refunds r JOIN payments p USING (payment_id) WHERE p.payment_reference = $1 ORDER BY r.created_at`,
    [paymentReference],
  );
  return rows.map(({ refund }) => refund);
}

async function expectRefundedOnce(world: ContractWorld, fault: Fault): Promise<void> {
  const { paymentReference } = await payAndCapture(world);
  await world.driver.causeFault('refund', fault);
  // The request is sent again before a report arrives.
  world.deliversReports = false;
  await world.refund(paymentReference, 2_345);
  await world.runJobsAfter(10_000);
  world.deliversReports = true;
  await world.settle();
  expect(await readRefunds(world, paymentReference)).toEqual(['succeeded']);
  expect((await world.driver.readRecords(paymentReference)).heldAmount).toBe(10_000);
}

/** A refund that succeeded fails days later: the merchant has the money, and can refund it again. */
async function expectReturned(world: ContractWorld, reason: 'failed' | 'reversed'): Promise<void> {
  const { paymentReference } = await payAndCapture(world);
  await world.refund(paymentReference, 2_345);
  await world.settle();
  expect(await readRefunds(world, paymentReference)).toEqual(['succeeded']);
  await world.runJobsAfter(2 * DAY_MS);
  await world.driver.returnRefund(paymentReference, reason);
  await world.settle();
  expect(await readRefunds(world, paymentReference)).toEqual(['failed, returned']);
  await world.refund(paymentReference, 12_345);
  await world.settle();
  expect(await readRefunds(world, paymentReference)).toEqual(['failed, returned', 'succeeded']);
}

export const REFUND_CASES: ContractCases = {
  'two partial refunds succeed, and a third that exceeds the payment is refused': async (world) => {
    const { paymentReference } = await payAndCapture(world);
    for (const amount of [345, 2_000]) {
      await world.refund(paymentReference, amount);
      await world.settle();
    }
    expect((await world.refund(paymentReference, 10_001)).status).toBe(422);
    expect(await readRefunds(world, paymentReference)).toEqual(['succeeded', 'succeeded']);
    expect(world.driver.countCalls('refund')).toBe(2);
  },

  'a refund is pending at first, and succeeds later': async (world) => {
    const { paymentReference } = await payAndCapture(world, 'refundPending');
    world.deliversReports = false;
    expect(await world.refund(paymentReference, 345)).toMatchObject({ status: 202, body: { status: 'pending' } });
    world.deliversReports = true;
    await world.settle();
    expect(await readRefunds(world, paymentReference)).toEqual(['succeeded']);
  },

  'a refund fails, and its amount can be refunded again': async (world) => {
    const { paymentReference } = await payAndCapture(world, 'refundDeclined');
    for (let refunds = 1; refunds <= 2; refunds++) {
      await world.driver.failNext('refund');
      await world.refund(paymentReference, 12_345);
      await world.settle();
    }
    expect(await readRefunds(world, paymentReference)).toEqual(['failed', 'failed']);
  },

  'a refund fails after its success': (world) => expectReturned(world, 'failed'),
  'a refund is returned after its success': (world) => expectReturned(world, 'reversed'),

  'a refund is requested before the capture': async (world) => {
    const { paymentReference } = await world.pay();
    expect(await world.refund(paymentReference, 345)).toMatchObject({ status: 202, body: { status: 'pending' } });
    expect(world.driver.countCalls('refund')).toBe(0);
    await world.settle();
    await world.settle();
    expect(await readRefunds(world, paymentReference)).toEqual(['succeeded']);
  },

  'a request for a refund is lost': (world) => expectRefundedOnce(world, 'requestLost'),
  'the response to a refund is lost': (world) => expectRefundedOnce(world, 'responseLost'),
  'the response to a refund comes after the time-out': (world) => expectRefundedOnce(world, 'responseLate'),
  'the response to a refund is no JSON': (world) => expectRefundedOnce(world, 'notJsonAfterwards'),
  'a request for a refund meets an overloaded server (503)': (world) => expectRefundedOnce(world, 'serverError'),

  'the reports of a refund arrive twice and in the reverse order': async (world) => {
    const { paymentReference } = await payAndCapture(world);
    world.deliversReports = false;
    await world.refund(paymentReference, 345);
    await world.runJobsAfter(10_000);
    await world.driver.returnRefund(paymentReference, 'failed');
    await world.deliverReports({ order: 'newest-first' });
    await world.driver.repeatReports(paymentReference);
    await world.applyReports();
    expect(await readRefunds(world, paymentReference)).toEqual(['failed, returned']);
  },
};
