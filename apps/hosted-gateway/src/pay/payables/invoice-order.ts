import type { OrderShown, PaymentChoice } from '../../page-views/pay-page-model.js';
import type { TillInvoice, TillLine } from '../../till-codes/till-invoice.js';

/** What the page shows of an invoice: the till, the merchant's reference, and the lines as a till prints them. */
export function invoiceOrder({
  siteReference,
  externalReference,
  lineItems,
}: TillInvoice): Pick<OrderShown, 'siteName' | 'merchantOrderId' | 'customFields' | 'lines' | 'isAtTill'> {
  return {
    isAtTill: true,
    siteName: siteReference,
    ...(externalReference === null ? {} : { merchantOrderId: externalReference }),
    customFields: [],
    lines: lineItems.map(lineOf),
  };
}

/** What the merchant lets the payer choose, as payment-processor will check it. */
export function choiceOf({ features, minimumAmount, amount }: TillInvoice): PaymentChoice {
  return {
    amountMinCents: features.amount?.editable === true ? Math.min(amount, minimumAmount) : undefined,
    hasTip: features.tip?.enabled === true,
  };
}

/** Rounded to cents, half away from zero; what is beyond all amounts is shown as the largest. */
function lineOf({ name, unitPrice, quantity = 1 }: TillLine): NonNullable<OrderShown['lines']>[number] {
  const exact = Number(unitPrice) * quantity;
  const cents = Math.min(Math.round(Math.abs(exact)), Number.MAX_SAFE_INTEGER);
  return { label: name ?? '', quantity, amountCents: exact < 0 ? 0 - cents : cents };
}
