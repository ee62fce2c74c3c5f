/**
 * A store's clock may be wrong by any amount, and may jump (T14): the real program, with a shifted clock
 * (test/shifted-clock.mjs).
 */
import { waitUntil } from '@svc/testing';
import { SITE } from '../../test/test-transformer.js';
import { TransformerProcess } from '../../test/transformer-process.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let pos: TransformerProcess;
afterEach(() => pos?.stop());

const waitForPayment = (reference: string): Promise<unknown> =>
  waitUntil(`the payment of ${reference}`, 20_000, async () => {
    const { status, body } = await pos.call('GET', `/v1/invoice/${reference}/payment`);
    return status === 200 && body.PaymentStatus === 'Success';
  });
const clockProblem = async (): Promise<unknown> =>
  (await pos.call('GET', `/till/${SITE}/state`)).body.clockProblem as unknown;

/** Pays a new basket by its code. Returns the payment's SvcId. */
async function sell(reference: string): Promise<string> {
  const { body } = await pos.sendTotal(1_000, reference);
  expect(body).toMatchObject({ Result: 'OK', Code: expect.any(String) });
  const { paymentReference } = pos.platform.pay(pos.platform.openInvoices()[0]!);
  await waitForPayment(reference);
  await pos.resetBasket();
  return paymentReference;
}

function expectTimesOfPlatform(): void {
  for (const { body } of pos.platform.invoices)
    expect(Math.abs(Date.parse(body['createdUTCDate'] as string) - Date.now())).toBeLessThan(120_000);
}

it.each([
  ['two hours', 2 * HOUR],
  ['60 days', 60 * DAY],
])('T14: if the clock is %s ahead during an outage and is then corrected, nothing waits for it', async (_, shiftMs) => {
  pos = await TransformerProcess.start({ shiftMs });
  const svcId = await sell('16');
  pos.platform.outage = 'unreachable';
  pos.platform.cutStreams();
  expect((await pos.sendTotal(700, '17')).body.Result).toBe('WARN');
  expect((await pos.requestRefund(svcId, 400)).body.Result).toBe('WARN');
  pos.setClock(0);
  pos.platform.outage = undefined;
  await waitUntil('the invoice', 20_000, async () => pos.platform.openInvoices().length === 1);
  await waitUntil('the refund', 20_000, async () => pos.platform.refunds.length === 1);
  expectTimesOfPlatform();
  expect(pos.output).not.toContain('TimeoutOverflowWarning');
});

it.each([
  ['60 days ahead', 60 * DAY, 'ahead'],
  ['in 1970', -Date.now() + HOUR, 'behind'],
  ['in 2100', Date.parse('2100-02-03T00:00:00Z') - Date.now(), 'ahead'],
])(
  'T14: with a clock %s, baskets are paid by their codes, and the till page names the clock',
  async (_, shiftMs, side) => {
    pos = await TransformerProcess.start({ shiftMs });
    await sell('17');
    expect(await clockProblem()).toMatch(new RegExp(`^The clock of the store’s computer is \\d+ days .*${side}`));
    // The clock is corrected while the program runs.
    pos.setClock(0);
    await sell('18');
    expect(await clockProblem()).toBeNull();
    expectTimesOfPlatform();
    expect(pos.output).not.toContain('TimeoutOverflowWarning');
  },
);

it('T14: what was written without the platform’s time gets it as soon as the platform is reachable', async () => {
  pos = await TransformerProcess.start();
  const svcId = await sell('16');
  await pos.kill();
  pos.platform.outage = 'unreachable';
  pos.setClock(-30 * 365 * DAY);
  await pos.start();
  expect((await pos.sendTotal(700, '17')).body.Result).toBe('WARN');
  expect((await pos.requestRefund(svcId, 400)).body.Result).toBe('WARN');
  await pos.kill();
  pos.setClock(2 * HOUR);
  await pos.start();
  pos.platform.outage = undefined;
  await waitUntil('the invoice', 20_000, async () => pos.platform.openInvoices().length === 1);
  await waitUntil('the refund', 20_000, async () => pos.platform.refunds.length === 1);
  expectTimesOfPlatform();
  // A cashier who repeats the refund gets the first result.
  expect((await pos.requestRefund(svcId, 400)).body).toMatchObject({ Result: 'WARN' });
  expect(pos.platform.refunds).toHaveLength(1);
});
