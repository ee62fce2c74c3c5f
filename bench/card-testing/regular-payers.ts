/**
 * Regular payers beside an attack. Most of them share a few addresses, as behind a mobile carrier or in a store. The
 * bank declines the first card of some, and two of them mistype the CVV twice.
 */
import type { CardData } from '@svc/sdk/card';
import { type CardNumbers, newCard } from './card-numbers.ts';
import type { AttemptOutcome, Checkout } from './checkouts/checkout.ts';

const SHARED_ADDRESSES = 4;
const SHARED_ADDRESS_SHARE = 0.6;
const DECLINED_FIRST_CARD_SHARE = 0.08;
const MISTYPING_PAYERS = 2;
const MISTYPED_CVVS = ['321', '132'];
/** A payer whose cards are all refused or declined has no more cards. */
const SPARE_CARDS = 2;

export interface RegularPayer {
  readonly address: string;
  /** The cards that the payer types, one for each attempt, until a payment succeeds. */
  readonly cards: readonly CardData[];
}

export interface PurchaseResult {
  readonly isPaid: boolean;
  /** The outcome of each attempt, and of each confirmation on the bank's page. */
  readonly outcomes: readonly AttemptOutcome[];
  readonly waits: number;
  readonly pressesAgain: number;
}

/** @param newAddress returns an address that no other payer has */
export function planRegularPayers(count: number, numbers: CardNumbers, newAddress: () => string): RegularPayer[] {
  const shared = Array.from({ length: SHARED_ADDRESSES }, newAddress);
  return Array.from({ length: count }, (_, index) => ({
    // The number of the payer modulo a prime spreads the shared addresses and the declined cards over the attack.
    address: isInShare(index, 31, SHARED_ADDRESS_SHARE) ? shared[index % SHARED_ADDRESSES]! : newAddress(),
    cards: [
      ...planFirstAttempts(index, count, numbers),
      ...Array.from({ length: SPARE_CARDS }, () => numbers.newApproved()),
    ],
  }));
}

function planFirstAttempts(index: number, count: number, numbers: CardNumbers): CardData[] {
  const isMistyping = Array.from({ length: MISTYPING_PAYERS }, (_, number) =>
    Math.floor(((number + 0.5) * count) / MISTYPING_PAYERS),
  ).includes(index);
  if (isMistyping) {
    const card = numbers.newWithCheckedCvv();
    return [...MISTYPED_CVVS.map((cvv) => newCard(card.cardNumber, cvv)), card];
  }
  if (isInShare(index, 37, DECLINED_FIRST_CARD_SHARE)) return [numbers.newDeclined()];
  return [numbers.newApproved()];
}

/** True for this share of all indices, evenly distributed. */
function isInShare(index: number, step: number, share: number): boolean {
  return (index * step) % 100 < share * 100;
}

/** Attempts to pay with one card after the other, as the page advises after a decline or a refusal. */
export async function payAsRegularPayer({ cards }: RegularPayer, checkout: Checkout): Promise<PurchaseResult> {
  const outcomes: AttemptOutcome[] = [];
  for (const card of cards) {
    outcomes.push(await checkout.attempt(card));
    if (outcomes.at(-1) === 'verification') outcomes.push(await checkout.confirm());
    if (outcomes.at(-1) === 'approved') break;
  }
  return {
    isPaid: outcomes.at(-1) === 'approved',
    outcomes,
    waits: checkout.waits,
    pressesAgain: checkout.pressesAgain,
  };
}
