/** A line of an order. decide-page.ts creates it for a session, and invoice-order.ts for a till's invoice. */
export interface OrderLine {
  label: string;
  /** Negative for a returned item; a fraction for weighed goods. */
  quantity: number;
  /** Integer cents. */
  unitPriceCents: number;
  /** Total of the line in integer cents, negative for a returned item. */
  amountCents: number;
}

/** The lines of an order, which the page shows like a till receipt. */
export interface OrderBasket {
  /** 1 to 500. */
  lines: readonly OrderLine[];
  /** The amount due in integer cents. The payer of an invoice may have paid another amount, or a tip. */
  totalCents: number;
  /** Integer cents. */
  shippingCents?: number;
  /** `isIncluded`: the prices of the lines include the tax. */
  tax?: { amountCents: number; isIncluded: boolean };
}
