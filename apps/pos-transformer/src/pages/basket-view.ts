/** View model of a till's basket, for the customer display and the till page. */
import type { MerchantPayment } from '@svc/sdk';
import type { BasketContent, BasketLine } from '../baskets/basket.js';
import { decimalFromNumber, multiply, roundHalfUp } from '../baskets/decimal.js';
import type { RequestedTotal } from '../baskets/total.repository.js';
import { coveredAmount } from '../payments/payment.js';

export interface BasketView {
  /**
   * `empty`: the till has no open basket. `filling`: the till has sent no total since its last line. `waiting`: there is no code yet.
   * `payable`: the code can be scanned. `paid`: the customer has paid. `closed`: the basket cannot be paid by code.
   */
  readonly state: 'empty' | 'filling' | 'waiting' | 'payable' | 'paid' | 'closed';
  readonly reference: string | null;
  readonly lines: readonly { readonly name: string; readonly quantity: number; readonly totalCents: number }[];
  readonly amountCents: number | null;
  /** Path of the QR code's image. */
  readonly codePath: string | null;
}

/** The basket of a till, with the name of its store. */
export interface DisplayView extends BasketView {
  /** Null if the configuration has no name. */
  readonly storeName: string | null;
}

export const NO_BASKET: BasketView = { state: 'empty', reference: null, lines: [], amountCents: null, codePath: null };

export interface BasketViewInput {
  readonly reference: string | null;
  readonly token: string;
  /** The lines that the till sent one by one. A basket that was sent as a whole has its lines in its totals. */
  readonly lines: readonly BasketLine[];
  readonly current: RequestedTotal | undefined;
  /** The successful payment, and the total that it pays. */
  readonly paid: { readonly total: RequestedTotal; readonly payment: MerchantPayment } | undefined;
}

/** The lines and the amount are always of the same total. Without a valid total, the view has no amount (T3). */
export function basketView({ reference, token, lines, current, paid }: BasketViewInput): BasketView {
  const total = paid?.total ?? (current?.isWithdrawn ? undefined : current);
  const content = total?.content ?? { lines };
  return {
    state: viewState(paid !== undefined, total),
    reference,
    lines: content.lines.map((line) => lineView(line, content)),
    amountCents: paid ? coveredAmount(paid.payment) : (total?.amountCents ?? null),
    // The query makes a new URL for each invoice. With the same URL, the browser would not load the new image.
    codePath: !paid && total?.state === 'open' ? `/codes/${token}.svg?total=${total.totalId}` : null,
  };
}

function viewState(isPaid: boolean, total: RequestedTotal | undefined): BasketView['state'] {
  if (isPaid) return 'paid';
  if (total === undefined) return 'filling';
  if (total.state === 'open') return 'payable';
  return total.state === 'queued' ? 'waiting' : 'closed';
}

function lineView({ name, productCode, quantity, price, lineTotal }: BasketLine, { order }: BasketContent) {
  // The lines of an order have no totals.
  const exactTotal =
    order === undefined
      ? decimalFromNumber(lineTotal)
      : multiply(decimalFromNumber(price), decimalFromNumber(quantity));
  return { name: name === '' ? productCode : name, quantity, totalCents: roundHalfUp(exactTotal) };
}
