/** View model of a till's basket, for the customer display and the till page. */
import type { BasketContent, BasketLine } from '../baskets/basket.js';
import { decimalFromNumber, multiply, roundHalfUp } from '../baskets/decimal.js';
import type { Total } from '../baskets/total.repository.js';
import { coveredAmount } from '../payments/payment.js';
import type { BasketPayment } from '../payments/payment.repository.js';

export interface BasketView {
  /**
   * `empty`: the till has no open basket. `filling`: the till has sent no total. `waiting`: there is no code yet.
   * `payable`: the code can be scanned. `paid`: the customer has paid. `closed`: the basket cannot be paid by code.
   */
  readonly state: 'empty' | 'filling' | 'waiting' | 'payable' | 'paid' | 'closed';
  readonly reference: string | null;
  readonly lines: readonly { readonly name: string; readonly quantity: number; readonly totalCents: number }[];
  readonly amountCents: number | null;
  /** Path of the QR code's image. */
  readonly codePath: string | null;
}

export const NO_BASKET: BasketView = { state: 'empty', reference: null, lines: [], amountCents: null, codePath: null };

export interface BasketViewInput {
  readonly reference: string | null;
  readonly token: string;
  /** The lines that the till sent one by one. A basket that was sent as a whole has its lines in its newest total. */
  readonly lines: readonly BasketLine[];
  readonly current: Total | undefined;
  readonly payment: BasketPayment | undefined;
}

export function basketView({ reference, token, lines, current, payment }: BasketViewInput): BasketView {
  const isOrder = current?.content.order !== undefined;
  const content = isOrder ? current.content : { lines };
  const isPaid = payment?.payment.status === 'Success';
  return {
    state: viewState(isPaid, current),
    reference,
    lines: content.lines.map((line) => lineView(line, content)),
    amountCents: isPaid ? coveredAmount(payment.payment) : (current?.amountCents ?? null),
    // The query makes a new URL for each invoice. With the same URL, the browser would not load the new image.
    codePath: !isPaid && current?.state === 'open' ? `/codes/${token}.svg?total=${current.totalId}` : null,
  };
}

function viewState(isPaid: boolean, current: Total | undefined): BasketView['state'] {
  if (isPaid) return 'paid';
  if (current === undefined) return 'filling';
  if (current.state === 'open') return 'payable';
  return current.state === 'queued' ? 'waiting' : 'closed';
}

function lineView({ name, productCode, quantity, price, total }: BasketLine, { order }: BasketContent) {
  const lineTotal =
    order === undefined ? decimalFromNumber(total) : multiply(decimalFromNumber(price), decimalFromNumber(quantity));
  return { name: name === '' ? productCode : name, quantity, totalCents: roundHalfUp(lineTotal) };
}
