import { randomUUID } from 'node:crypto';
import type { HostedApiVersion, HostedPaymentSnapshot, Mode } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';

/** The site of all payments that {@link newHostedPayment} creates. */
export const TEST_SITE = { merchantId: 7, siteId: 71, mode: 'test' as Mode };

/** Creates a final payment of a hosted session, as payment-processor publishes it. */
export function newHostedPayment(
  paymentReference: string,
  url: string,
  {
    state,
    sessionId,
    apiVersion,
    mode,
  }: { state: 'success' | 'failed'; sessionId: string; apiVersion: HostedApiVersion; mode: Mode },
): HostedPaymentSnapshot {
  const isSuccess = state === 'success';
  return {
    reference: randomUUID(),
    paymentReference,
    ...TEST_SITE,
    mode,
    state,
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    amount: 12_345,
    tipAmount: 0,
    processedAmount: isSuccess ? 12_345 : 0,
    paymentUTCDate: '2026-03-01T09:59:58.123Z',
    modifiedUTCDate: '2026-03-01T09:59:59.456Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: isSuccess ? [] : [{ errorReference: '10', message: 'The card was declined by the bank.' }],
    source: {
      kind: 'session',
      sessionId,
      apiVersion,
      merchantOrderId: 'order|42 é',
      notificationUrl: url,
      code: newOwnCode(),
    },
    payable: { payableId: sessionId, state: isSuccess ? 'paid' : 'open', version: 3, paymentCount: 1 },
    merchantName: 'Merchant',
    siteReference: 'SHOP-1',
  };
}
