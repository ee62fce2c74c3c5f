import { randomUUID } from 'node:crypto';
import {
  type InvoiceCreated,
  InvoiceCreatedV1,
  type InvoiceSource,
  type LineItem,
  type MerchantChanged,
  MerchantChangedV1,
  type Mode,
  type PayableDescriptor,
  TillCodeCreatedV1,
} from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import type { Gateway, Merchant } from './gateway.js';

export interface InvoiceOptions {
  readonly mode?: Mode;
  readonly amount?: number;
  readonly lineItems?: LineItem[];
  readonly externalReference?: string;
  readonly maxPayments?: number;
  readonly siteReference?: string;
  /** The person who requested the payment (D7). */
  readonly requestedBy?: string;
}

/**
 * The event that code-decoder publishes for a new invoice of R 89.50 at till TILL-1. The invoice expires after an hour.
 */
export function buildInvoiceCreated(
  gateway: Gateway,
  { merchantId, siteId }: Pick<Merchant, 'merchantId' | 'siteId'>,
  { lineItems, siteReference = 'TILL-1', requestedBy, ...options }: InvoiceOptions = {},
): InvoiceCreated {
  const { mode = 'test', amount = 8_950, maxPayments = 100, externalReference = 'basket-17' } = options;
  const invoiceReference = randomUUID();
  return {
    payable: {
      payableId: invoiceReference,
      mode,
      merchantId,
      siteId,
      amount,
      maxPayments,
      currencyISOCode: 'ZAR',
      expiresAt: gateway.clock.later(3_600_000).toISOString(),
      source: { kind: 'invoice', invoiceReference, externalReference, siteReference, code: newOwnCode() },
    },
    origin: 'pos',
    createdUTCDate: gateway.clock.nowISO(),
    lineItems: lineItems ?? [{ name: 'Rooibos cappuccino', sku: 'RC', unitPrice: '4475', quantity: 2 }],
    ...(requestedBy === undefined ? {} : { requestedBy }),
  };
}

/** Delivers the event of {@link buildInvoiceCreated} to the gateway. Returns the payable of the invoice. */
export async function createInvoice(
  gateway: Gateway,
  merchant: Pick<Merchant, 'merchantId' | 'siteId'>,
  options: InvoiceOptions = {},
): Promise<PayableDescriptor<InvoiceSource>> {
  const created = buildInvoiceCreated(gateway, merchant, options);
  await gateway.deliver(anEvent(InvoiceCreatedV1, created.payable.payableId, 1, created));
  return created.payable;
}

/** Delivers the event that reports the static code of a till. Returns the digits of the code. */
export async function createTill(gateway: Gateway, { merchantId, siteId }: Merchant): Promise<string> {
  const code = newOwnCode();
  const tillCode = { code, mode: 'test' as const, merchantId, siteId, siteReference: 'TILL-1' };
  await gateway.deliver(anEvent(TillCodeCreatedV1, code, 1, tillCode));
  return code;
}

/** Delivers the MerchantChanged event that identity publishes. */
export async function changeMerchant(
  gateway: Gateway,
  { merchantId }: Pick<Merchant, 'merchantId'>,
  version: number,
  overrides: Partial<MerchantChanged>,
): Promise<void> {
  const required = { name: 'Karoo Books', features: {}, minimumAmount: 100, grants: [], fees: {} };
  const timeZones = [{ zone: 'Africa/Johannesburg' }];
  const merchant = { merchantId, ...required, timeZones, ...overrides };
  await gateway.deliver(anEvent(MerchantChangedV1, String(merchantId), version, merchant));
}
