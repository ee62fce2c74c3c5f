import { ERROR_CATALOGUE } from '@svc/contracts';
import type { Fault } from '../acquirer-driver.js';
import { DECLINE_CODES } from '../contract-terms.js';
import { ABANDONED_AFTER_MS, type ContractPayment, type ContractWorld } from '../contract-world.js';
import type { ContractCases } from './contract-case.js';

/** Expects that the payer can pay the payable of a failed payment. */
async function expectPaidAgain(world: ContractWorld, { payable }: ContractPayment): Promise<void> {
  const again = await world.pay('approved', { payable, paymentNumber: 2 });
  expect(again.snapshot.state).toBe('success');
}

/** Faults after which the acquirer has not charged, and whether the service knows it at once. */
const FAULTS_WITHOUT_CHARGE: Readonly<Partial<Record<Fault, string>>> = {
  requestLost: 'a request is lost',
  notJson: 'the response is no JSON, and nothing was charged',
};
const FAULTS_AFTER_CHARGE: Readonly<Partial<Record<Fault, string>>> = {
  responseLost: 'a response is lost',
  responseLate: 'a response comes after the time-out',
  serverErrorAfterwards: 'the response is an error of the server, and the card was charged',
  notJsonAfterwards: 'the response is no JSON, and the card was charged',
};
/** The acquirer says that it has not processed the request. */
const REFUSED: Readonly<Partial<Record<Fault, string>>> = {
  tooManyRequests: 'the acquirer limits the requests (429)',
  serverError: 'the acquirer is overloaded (503)',
};

function casesOf(
  faults: Readonly<Partial<Record<Fault, string>>>,
  run: (world: ContractWorld, fault: Fault) => Promise<void>,
): ContractCases {
  const entries = Object.entries(faults) as [Fault, string][];
  return Object.fromEntries(entries.map(([fault, name]) => [name, (world) => run(world, fault)]));
}

export const CHARGE_CASES: ContractCases = {
  'a charge is approved': async (world) => {
    const { snapshot, paymentReference } = await world.pay();
    expect(snapshot).toMatchObject({ state: 'success', processedAmount: 12_345 });
    expect(await world.readStates(paymentReference)).toMatchObject({ payable: 'paid', attempts: ['approved'] });
  },

  ...Object.fromEntries(
    DECLINE_CODES.map((code) => [
      `a charge is declined: ${code}`,
      async (world: ContractWorld) => {
        const declined = await world.pay(`declined: ${code}`);
        expect(declined.snapshot).toMatchObject({
          state: 'failed',
          errors: [{ errorReference: ERROR_CATALOGUE[code].errorReference }],
        });
        expect((await world.driver.readRecords(declined.paymentReference)).approvals).toBe(0);
        await expectPaidAgain(world, declined);
      },
    ]),
  ),

  ...casesOf(FAULTS_WITHOUT_CHARGE, async (world, fault) => {
    await world.driver.causeFault('charge', fault);
    const payment = await world.pay();
    expect(payment.snapshot.state).toBe('processing');
    await expect(world.pay('approved', { payable: payment.payable, paymentNumber: 2 })).rejects.toMatchObject({
      code: 'payment.in-progress',
    });
    await world.runJobsAfter(ABANDONED_AFTER_MS);
    const { payment: state, payable } = await world.readStates(payment.paymentReference);
    expect([state, payable]).toEqual(['failed', 'open']);
    await expectPaidAgain(world, payment);
  }),

  ...casesOf(FAULTS_AFTER_CHARGE, async (world, fault) => {
    await world.driver.causeFault('charge', fault);
    const { snapshot, paymentReference } = await world.pay();
    expect(snapshot.state).toBe('processing');
    expect((await world.driver.readRecords(paymentReference)).approvals).toBe(1);
    await world.runJobsAfter(2_000);
    expect(await world.readStates(paymentReference)).toMatchObject({ payment: 'success', attempts: ['approved'] });
  }),

  ...casesOf(REFUSED, async (world, fault) => {
    await world.driver.causeFault('charge', fault);
    const payment = await world.pay();
    // An acquirer that repeats a request under its key charges at once.
    if (world.driver.repeatsLostResponses) return expect(payment.snapshot.state).toBe('success');
    await world.runJobsAfter(ABANDONED_AFTER_MS);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'failed', payable: 'open' });
    await expectPaidAgain(world, payment);
  }),

  'a response is lost once, and a repeat under the same key gets it': async (world) => {
    await world.driver.loseOneResponse('charge');
    const { snapshot, paymentReference } = await world.pay();
    expect(snapshot.state).toBe('success');
    expect(world.driver.countCalls('charge')).toBe(2);
    expect((await world.driver.readRecords(paymentReference)).approvals).toBe(1);
  },

  'the same charge is sent twice and gets the same response': async (world) => {
    const { acquirer } = world;
    const charge = acquirer.charge.bind(acquirer);
    acquirer.charge = async (terms, signal) => {
      acquirer.charge = charge;
      const response = await charge(terms, signal);
      expect(await charge(terms, signal)).toEqual(response);
      return response;
    };
    const { paymentReference } = await world.pay();
    expect(world.driver.countCalls('charge')).toBe(2);
    expect((await world.driver.readRecords(paymentReference)).approvals).toBe(1);
  },

  'there is no connection: the payment fails at once, and nothing was sent': async (world) => {
    await world.driver.causeFault('charge', 'noConnection');
    const payment = await world.pay();
    expect(payment.snapshot).toMatchObject({ state: 'failed', errors: [{ errorReference: '30' }] });
    await expectPaidAgain(world, payment);
  },

  'five charges in a row fail: further payments fail at once without a call, until the acquirer responds': async (
    world,
  ) => {
    for (let nth = 1; nth <= 5; nth++) {
      await world.driver.causeFault('charge', 'requestLost');
      await world.pay();
    }
    const calls = world.driver.countCalls('charge');
    const payment = await world.pay();
    expect(payment.snapshot).toMatchObject({ state: 'failed', errors: [{ errorReference: '30' }] });
    expect(world.driver.countCalls('charge')).toBe(calls);
    world.processor.clock.advance(5_000);
    await expectPaidAgain(world, payment);
    // No attempt is lost: each of the five ends.
    await world.runJobsAfter(ABANDONED_AFTER_MS);
  },
};
