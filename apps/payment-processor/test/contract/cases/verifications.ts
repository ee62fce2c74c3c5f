import { ABANDONED_AFTER_MS, type ContractPayment, type ContractWorld } from '../contract-world.js';
import type { ContractCases } from './contract-case.js';

async function payWithVerification(world: ContractWorld): Promise<ContractPayment> {
  const payment = await world.pay('verificationRequired');
  expect(payment.snapshot).toMatchObject({ state: 'verificationRequired', verificationUrl: expect.any(String) });
  return payment;
}

/** The page of the shop on which the payer continues. */
const pageOf = ({ payable }: ContractPayment): string => `https://pay.example/pay?sessionId=${payable.payableId}`;

export const VERIFICATION_CASES: ContractCases = {
  'a verification is passed, and the bank returns the payer to the service, which forwards the payer': async (
    world,
  ) => {
    const payment = await payWithVerification(world);
    expect((await world.driver.readRecords(payment.paymentReference)).approvals).toBe(0);
    expect(await world.answerChallenge(payment, 'pass')).toBe(pageOf(payment));
    expect(await world.poll(payment)).toMatchObject([{ state: 'success' }]);
    expect(world.driver.countCalls('chargeVerified')).toBe(1);
  },

  'a verification fails': async (world) => {
    const payment = await payWithVerification(world);
    expect(await world.answerChallenge(payment, 'fail')).toBe(pageOf(payment));
    expect(await world.poll(payment)).toMatchObject([{ state: 'failed', errors: [{ errorReference: '16' }] }]);
    const again = await world.pay('approved', { payable: payment.payable, paymentNumber: 2 });
    expect(again.snapshot.state).toBe('success');
  },

  'a verification is abandoned, and its late result is not submitted': async (world) => {
    const payment = await payWithVerification(world);
    const bankReturnUrl = await world.driver.answerChallenge(payment.snapshot.verificationUrl!, 'pass');
    await world.runJobsAfter(ABANDONED_AFTER_MS);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'failed', error: '17' });
    await world.returnFromBank(bankReturnUrl);
    expect(await world.poll(payment)).toMatchObject([{ state: 'failed' }]);
    await world.settle();
    expect(world.driver.countCalls('chargeVerified')).toBe(0);
  },

  'a payer returns twice': async (world) => {
    const payment = await payWithVerification(world);
    const bankReturnUrl = await world.driver.answerChallenge(payment.snapshot.verificationUrl!, 'pass');
    await world.returnFromBank(bankReturnUrl);
    await world.returnFromBank(bankReturnUrl);
    await Promise.all([world.poll(payment), world.poll(payment)]);
    await world.returnFromBank(bankReturnUrl);
    await world.poll(payment);
    expect(world.driver.countCalls('chargeVerified')).toBe(1);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({
      payment: 'success',
      attempts: ['notAttempted', 'approved'],
    });
  },

  'a payable is paid while its payer is at the bank': async (world) => {
    const payment = await payWithVerification(world);
    const other = await world.pay('approved', { payable: payment.payable, paymentNumber: 2 });
    expect(other.snapshot.state).toBe('success');
    await world.answerChallenge(payment, 'pass');
    await world.poll(payment);
    expect(world.driver.countCalls('chargeVerified')).toBe(0);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'failed' });
  },

  'a verified charge whose response is lost is decided by a report': async (world) => {
    const payment = await payWithVerification(world);
    await world.answerChallenge(payment, 'pass');
    await world.driver.causeFault('chargeVerified', 'responseLost');
    expect(await world.poll(payment)).toMatchObject([{ state: 'processing' }]);
    await world.deliverReports();
    expect(await world.readStates(payment.paymentReference)).toMatchObject({
      payment: 'success',
      attempts: ['notAttempted', 'approved'],
    });
  },

  'a verified charge without a response and a report is released': async (world) => {
    const payment = await payWithVerification(world);
    await world.answerChallenge(payment, 'pass');
    world.deliversReports = false;
    await world.driver.causeFault('chargeVerified', 'responseLost');
    await world.poll(payment);
    await world.runJobsAfter(ABANDONED_AFTER_MS);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'failed', error: '31' });
    world.deliversReports = true;
    await world.settle();
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ attempts: ['notAttempted', 'reversed'] });
  },
};
