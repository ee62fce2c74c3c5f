import { randomUUID } from 'node:crypto';
import type { HostedPayableDescriptor, InvoiceSource, PayableDescriptor } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';

/** The payable of a hosted session of R 123.45, as the gateway creates it. */
export function buildPayable(overrides: Partial<HostedPayableDescriptor> = {}): HostedPayableDescriptor {
  const sessionId = overrides.payableId ?? randomUUID();
  return {
    payableId: sessionId,
    mode: 'test',
    merchantId: 1001,
    siteId: 5001,
    amount: 12345,
    currencyISOCode: 'ZAR',
    expiresAt: '2026-03-01T10:30:00.000Z',
    maxPayments: 5,
    source: {
      kind: 'session',
      sessionId,
      apiVersion: 'v3.1',
      merchantOrderId: 'order-1',
      notificationUrl: 'https://shop.example/hook',
      code: newOwnCode(),
    },
    ...overrides,
  };
}

/** The payable of a till's invoice of R 123.45, as code-decoder creates it. */
export function buildInvoicePayable(
  overrides: Partial<PayableDescriptor<InvoiceSource>> = {},
): PayableDescriptor<InvoiceSource> {
  const invoiceReference = overrides.payableId ?? randomUUID();
  return {
    ...buildPayable(),
    payableId: invoiceReference,
    maxPayments: 100,
    source: { kind: 'invoice', invoiceReference, siteReference: 'TILL-1', code: '01234567890123456789' },
    ...overrides,
  };
}
