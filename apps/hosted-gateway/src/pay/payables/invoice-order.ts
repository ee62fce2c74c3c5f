import { computeAmountLimits } from '@svc/contracts';
import { computeLineTotal } from '../../baskets/basket.js';
import type { OrderLine } from '../../page-views/basket/order-basket.js';
import type { OrderDetails, PaymentChoice } from '../../page-views/pay-page-model.js';
import type { TillInvoice, TillLineItem } from '../../till-codes/till-invoice.js';

/** The order of an invoice as the page shows it: the site, the merchant's reference, and the line items. */
export function buildInvoiceOrder({
  siteName,
  externalReference,
  amount,
  lineItems,
  isPaymentRequest,
}: TillInvoice): Pick<OrderDetails, 'siteName' | 'merchantOrderId' | 'customFields' | 'basket' | 'invoiceOrigin'> {
  return {
    invoiceOrigin: isPaymentRequest ? 'request' : 'till',
    siteName,
    ...(externalReference === null ? {} : { merchantOrderId: externalReference }),
    customFields: [],
    ...(lineItems.length === 0 ? {} : { basket: { lines: lineItems.map(buildOrderLine), totalCents: amount } }),
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

function buildOrderLine({ name = '', unitPrice, quantity = 1 }: TillLineItem): OrderLine {
  const unitPriceCents = Number(unitPrice);
  return {
    label: name,
    quantity,
    unitPriceCents,
    amountCents: computeLineTotal({ unitPrice: unitPriceCents, quantity }),
  };
}
