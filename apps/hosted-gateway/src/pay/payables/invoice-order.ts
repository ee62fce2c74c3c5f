import { computeAmountLimits } from '@svc/contracts';
import type { OrderDetails, PaymentChoice } from '../../page-views/pay-page-model.js';
import type { TillInvoice, TillLineItem } from '../../till-codes/till-invoice.js';

/** The order of an invoice as the page shows it: the till, the merchant's reference, and the line items. */
export function buildInvoiceOrder({
  siteReference,
  externalReference,
  lineItems,
}: TillInvoice): Pick<OrderDetails, 'siteName' | 'merchantOrderId' | 'customFields' | 'lines' | 'isAtTill'> {
  return {
    isAtTill: true,
    siteName: siteReference,
    ...(externalReference === null ? {} : { merchantOrderId: externalReference }),
    customFields: [],
    lines: lineItems.map(buildOrderLine),
  };
}

/** Whether the payer may choose an amount and a tip. payment-processor enforces the same rules. */
export function buildPaymentChoice(invoice: TillInvoice): PaymentChoice {
  const { min, max, tipMax } = computeAmountLimits(invoice.amount, invoice);
  return {
    amountCents: invoice.features.amount?.editable === true ? { min, max } : undefined,
    tipMaxCents: invoice.features.tip?.enabled === true ? tipMax : undefined,
  };
}

/** Line total, rounded to cents (half away from zero), capped at the largest safe integer. */
function buildOrderLine({ name, unitPrice, quantity = 1 }: TillLineItem): NonNullable<OrderDetails['lines']>[number] {
  const exact = Number(unitPrice) * quantity;
  const cents = Math.min(Math.round(Math.abs(exact)), Number.MAX_SAFE_INTEGER);
  return { label: name ?? '', quantity, amountCents: exact < 0 ? 0 - cents : cents };
}
