import type { CardBehaviour } from '../acquirer-driver.js';
import { ABANDONED_AFTER_MS, type ContractPayment, type ContractWorld } from '../contract-world.js';
import { connectionReset } from '../network.js';
import type { ContractCases } from './contract-case.js';

/** Pays with a card whose charge is processed, while its response is lost. No report arrives by itself. */
async function payWithLostResponse(
  world: ContractWorld,
  behaviour: CardBehaviour = 'approved',
): Promise<ContractPayment> {
  world.deliversReports = false;
  await world.driver.causeFault('charge', 'responseLost');
  const payment = await world.pay(behaviour);
  expect(payment.snapshot.state).toBe('processing');
  return payment;
}

/** The time after which an attempt is abandoned passes. */
async function abandon(world: ContractWorld, { paymentReference }: ContractPayment): Promise<void> {
  await world.runJobsAfter(ABANDONED_AFTER_MS);
  expect(await world.readStates(paymentReference)).toEqual({
    payment: 'failed',
    payable: 'open',
    attempts: ['notAttempted'],
    error: '31',
  });
}

/** Pays with a request that the acquirer receives only when the test calls `sendLate`. */
async function payWithDelayedRequest(
  world: ContractWorld,
): Promise<{ payment: ContractPayment; sendLate: () => Promise<unknown> }> {
  let sendLate: () => Promise<unknown> = () => Promise.reject(new Error('There was no charge.'));
  world.network.interceptNext(
    ({ method, url }) => method === 'POST' && url.pathname.endsWith('/payments'),
    (request, call) => {
      // The request is in transit, and arrives although its sender no longer waits.
      sendLate = () => call({ ...request, signal: undefined });
      world.network.expire(request);
      return Promise.reject(connectionReset());
    },
  );
  const payment = await world.pay();
  return { payment, sendLate: () => sendLate() };
}

async function expectReleased(world: ContractWorld, { paymentReference }: ContractPayment): Promise<void> {
  world.deliversReports = true;
  await world.settle();
  expect(await world.readStates(paymentReference)).toMatchObject({ payment: 'failed', attempts: ['reversed'] });
}

export const REPORT_CASES: ContractCases = {
  'a report decides a charge whose response was lost': async (world) => {
    const { paymentReference } = await payWithLostResponse(world);
    await world.runJobsAfter(10 * 60_000);
    expect(await world.readStates(paymentReference)).toMatchObject({ payment: 'processing', payable: 'reserved' });
    await world.deliverReports();
    expect(await world.readStates(paymentReference)).toMatchObject({ payment: 'success', attempts: ['approved'] });
  },

  'a report declines a charge whose response was lost': async (world) => {
    const { paymentReference } = await payWithLostResponse(world, 'declined: card.insufficient-funds');
    await world.deliverReports();
    expect(await world.readStates(paymentReference)).toMatchObject({ payment: 'failed', payable: 'open', error: '11' });
  },

  'a report arrives before the response': async (world) => {
    world.beforeNextResponse('charge', () => world.deliverReports());
    const { snapshot, paymentReference } = await world.pay();
    expect(snapshot.state).toBe('success');
    expect(await world.readIncidents(paymentReference)).toEqual([]);
  },

  'each report arrives twice': async (world) => {
    const { paymentReference } = await payWithLostResponse(world);
    await world.deliverReports();
    await world.driver.repeatReports(paymentReference);
    world.deliversReports = true;
    await world.runJobs();
    await world.driver.repeatReports(paymentReference);
    await world.applyReports();
    expect(await world.readIncidents(paymentReference)).toEqual([]);
  },

  'the reports arrive in the reverse order': async (world) => {
    world.deliversReports = false;
    const { paymentReference } = await world.pay('captureFailsLater');
    await world.runJobs();
    expect(await world.deliverReports({ order: 'newest-first' })).toBe(3);
    expect(await world.readIncidents(paymentReference)).toEqual(['captureFailed']);
  },

  'no report arrives: the charge is abandoned and released': async (world) => {
    const payment = await payWithLostResponse(world);
    await abandon(world, payment);
    expect(world.driver.countCalls('reverse')).toBe(1);
    const again = await world.pay('approved', { payable: payment.payable, paymentNumber: 2 });
    expect(again.snapshot.state).toBe('success');
    // The release is requested again, until its report arrives.
    await world.runJobsAfter(30_000);
    expect(world.driver.countCalls('reverse')).toBe(2);
    await world.deliverReports({ kind: 'reversal' });
    await world.runJobsAfter(60 * 60_000);
    expect(world.driver.countCalls('reverse')).toBe(2);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ attempts: ['reversed'] });
    // Each of the two requests has a report.
    await world.deliverReports();
    await world.driver.repeatReports(payment.paymentReference);
    await world.applyReports();
  },

  'a declined charge is abandoned, and its report ends the release': async (world) => {
    const payment = await payWithLostResponse(world, 'declined: card.declined');
    await abandon(world, payment);
    // The acquirer refuses to cancel a declined charge, which does not end the release.
    await world.deliverReports({ kind: 'reversal' });
    await world.runJobsAfter(30_000);
    expect(world.driver.countCalls('reverse')).toBe(2);
    await world.deliverReports({ kind: 'charge' });
    await world.runJobsAfter(60 * 60_000);
    expect(world.driver.countCalls('reverse')).toBe(2);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({
      payment: 'failed',
      attempts: ['notAttempted'],
    });
  },

  'an approval is reported after the charge was abandoned': async (world) => {
    const payment = await payWithLostResponse(world);
    await abandon(world, payment);
    await world.deliverReports({ kind: 'charge' });
    expect(await world.readIncidents(payment.paymentReference)).toEqual(['approved']);
    world.deliversReports = true;
    await world.settle();
    expect(await world.readStates(payment.paymentReference)).toMatchObject({
      payment: 'failed',
      attempts: ['reversed'],
    });
  },

  'a charge arrives after its release': async (world) => {
    const { payment, sendLate } = await payWithDelayedRequest(world);
    await abandon(world, payment);
    expect((await world.driver.readRecords(payment.paymentReference)).approvals).toBe(0);
    await sendLate();
    await expectReleased(world, payment);
  },

  'a charge and its report arrive before the report that nothing was released': async (world) => {
    const { payment, sendLate } = await payWithDelayedRequest(world);
    world.deliversReports = false;
    await abandon(world, payment);
    await sendLate();
    await world.deliverReports({ kind: 'charge' });
    await world.deliverReports({ kind: 'reversal' });
    await expectReleased(world, payment);
  },
};
