import { paymentError, type PaymentSnapshot } from '@svc/contracts';
import { digestSession } from '@svc/kernel';
import type { ServiceLog } from '@svc/service';
import { anAnonymousPayment, aPayment, GaugeReader, ManualClock } from '@svc/testing';
import { PaymentOutcomes } from './payment-outcomes.js';

const clock = new ManualClock();
const info = jest.fn();
let gauges: GaugeReader;
let outcomes: PaymentOutcomes;
beforeEach(() => {
  info.mockReset();
  gauges = GaugeReader.begin();
  outcomes = new PaymentOutcomes(clock, { info } as unknown as ServiceLog);
});
afterEach(() => gauges.end());

const session: PaymentSnapshot = anAnonymousPayment();
const charge = () => ({ acquirer: 'adyen', startedAt: clock.later(-1_500) });

test('a successful charge is counted and measured, and has one log line with its references', async () => {
  const payment: PaymentSnapshot = { ...session, state: 'success', errors: [] };
  outcomes.reportCharge(payment, charge());
  const labels = { mode: payment.mode, acquirer: 'adyen', source: 'session', outcome: 'success', error: 'none' };
  expect(await gauges.read('svc.payments')).toEqual([{ value: 1, attributes: labels }]);
  expect(await gauges.read('svc.payment.duration')).toMatchObject([
    { value: { count: 1, sum: 1.5 }, attributes: { mode: payment.mode, acquirer: 'adyen', outcome: 'success' } },
  ]);
  const { source, paymentReference, mode, merchantId, siteId, processedAmount } = payment;
  if (source.kind !== 'session') throw new Error('not a payment of a session');
  expect(info.mock.calls).toEqual([
    [
      {
        ...{ paymentReference, session: digestSession(source.sessionId), order: source.merchantOrderId },
        ...{ mode, merchantId, siteId, processedAmount, acquirer: 'adyen', outcome: 'success', error: 'none' },
      },
      'payment ended',
    ],
  ]);
});

test.each(['card.declined', 'card.limit-exceeded', 'card.too-many-attempts'] as const)(
  'a decline is counted by its code: %s',
  async (code) => {
    outcomes.reportCharge({ ...session, state: 'failed', errors: [paymentError(code)] }, charge());
    expect(await gauges.read('svc.payments')).toMatchObject([
      { value: 1, attributes: { outcome: 'failed', error: code } },
    ]);
  },
);

test('a required verification is no final outcome', async () => {
  outcomes.reportCharge({ ...session, state: 'verificationRequired' }, charge());
  expect(await gauges.read('svc.payments')).toEqual([]);
  expect(await gauges.read('svc.payments.verifications')).toMatchObject([
    { value: 1, attributes: { acquirer: 'adyen' } },
  ]);
  expect(info).not.toHaveBeenCalled();
});

test('a payment of a partner without a charge has no acquirer and no duration', async () => {
  outcomes.reportFinal({ ...aPayment('o-1', 'c-1'), state: 'success', errors: [] });
  expect(await gauges.read('svc.payments')).toMatchObject([{ attributes: { source: 'partner', acquirer: 'none' } }]);
  expect(await gauges.read('svc.payment.duration')).toEqual([]);
});
