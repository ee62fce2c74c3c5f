/** Payment requests (D7), as the events of code-decoder and payment-processor tell the console. */
import { randomUUID } from 'node:crypto';
import { InvoiceCreatedV1, PayableClosedV1, type PaymentSnapshot } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { newPayment, type TestConsole, type TestMerchant } from './console.js';

export interface RequestChanges {
  readonly invoiceReference?: string;
  readonly amount?: number;
  readonly siteId?: number;
  readonly mode?: 'test' | 'live';
  readonly description?: string;
  readonly createdUTCDate?: string;
  readonly expiresAt?: string;
  readonly requestedBy?: string | undefined;
}

/** Delivers the event of code-decoder. @returns the invoice's reference */
export async function deliverRequest(
  app: TestConsole,
  merchant: TestMerchant,
  changes: RequestChanges = {},
): Promise<string> {
  const { invoiceReference = randomUUID(), amount = 25_000, siteId = merchant.sites[0], mode = 'test' } = changes;
  const { requestedBy = randomUUID() } = changes;
  await app.deliver(
    anEvent(InvoiceCreatedV1, invoiceReference, 1, {
      payable: {
        payableId: invoiceReference,
        merchantId: merchant.merchantId,
        siteId,
        mode,
        amount,
        currencyISOCode: 'ZAR',
        expiresAt: changes.expiresAt ?? '2026-03-08T22:00:00.000Z',
        maxPayments: 100,
        source: {
          kind: 'invoice',
          invoiceReference,
          externalReference: 'CAKE-7',
          siteReference: 'SITE-1',
          code: invoiceReference.replaceAll(/\D/g, '').padEnd(20, '7').slice(0, 20),
        },
      },
      origin: 'Console',
      createdUTCDate: changes.createdUTCDate ?? '2026-03-01T10:00:00.000Z',
      lineItems: [
        { name: changes.description ?? 'Wedding cake', productCode: 'payment-request', unitPrice: String(amount) },
      ],
      ...(requestedBy === undefined ? {} : { requestedBy }),
    }),
  );
  return invoiceReference;
}

export const closeRequest = (app: TestConsole, payableId: string): Promise<void> =>
  app.deliver(anEvent(PayableClosedV1, payableId, 2, { payableId, state: 'closed', version: 2, paymentCount: 0 }));

/** The successful payment of a request. */
export const newRequestPayment = (
  merchant: TestMerchant,
  invoiceReference: string,
  changes: Partial<PaymentSnapshot> = {},
): PaymentSnapshot => ({
  ...newPayment(merchant, new Date('2026-03-01T10:05:00Z')),
  payable: { payableId: invoiceReference, state: 'paid', version: 3, paymentCount: 1 },
  source: { kind: 'invoice', invoiceReference, siteReference: 'SITE-1', code: newOwnCode() },
  ...changes,
});
