/** Card numbers and their behaviour at the simulated bank. The README lists them. */
import { createHash } from 'node:crypto';
import type { CardBehaviour } from './records.js';

/** Test card numbers with a behaviour of their own. */
const BEHAVIOURS: Readonly<Record<string, CardBehaviour>> = {
  '4000000000000002': 'declined',
  '4000000000009995': 'insufficient-funds',
  '4000000000000069': 'expired',
  '4000000000000127': 'incorrect-cvv',
  '4000000000009987': 'lost',
  '4000000000009979': 'stolen',
  // Charges, and responds after LATE_RESPONSE_MS.
  '4000000000006009': 'responds-late',
  // Charges, then drops the connection without a response.
  '4000000000004087': 'drops-the-response',
  // Requires a challenge, and charges after the payer has passed it.
  '4000000000003220': 'requires-verification',
  // Declines refunds.
  '4000000000005126': 'refund-declined',
  // A refund is pending, and succeeds at the second poll.
  '4000000000007726': 'refund-pending',
  // Refunds, and responds after LATE_RESPONSE_MS.
  '4000000000007247': 'refund-responds-late',
  // Refunds, then drops the connection without a response.
  '4000000000007262': 'refund-drops-the-response',
};

/** Numbers as in a thief's list: most are declined. */
const CARD_LIST_RANGE = /^4999\d{12}$/;
/**
 * Behaviour of the numbers of {@link CARD_LIST_RANGE}, each with its share of 100 numbers. A list that was guessed or
 * stolen long ago contains few usable cards.
 */
const CARD_LIST_SHARES: readonly (readonly [CardBehaviour, share: number])[] = [
  ['approved', 2],
  ['stolen', 4],
  ['lost', 4],
  ['incorrect-cvv', 10],
  ['expired', 10],
  ['insufficient-funds', 15],
  ['declined', 55],
];

/** Numbers of cards with {@link CHECKED_CVV}. A charge with another CVV is declined. */
const CHECKED_CVV_RANGE = /^4998\d{12}$/;
const CHECKED_CVV = '123';

/**
 * The behaviour of a card. Charges to every valid number without a rule are approved.
 *
 * @param cvv checked only for the numbers of {@link CHECKED_CVV_RANGE}; undefined if the caller does not send it
 */
export function cardBehaviour(cardNumber: string, cvv?: string): CardBehaviour {
  const behaviour = BEHAVIOURS[cardNumber];
  if (behaviour !== undefined) return behaviour;
  if (CARD_LIST_RANGE.test(cardNumber)) return cardListBehaviour(cardNumber);
  const isWrongCvv = CHECKED_CVV_RANGE.test(cardNumber) && cvv !== undefined && cvv !== CHECKED_CVV;
  return isWrongCvv ? 'incorrect-cvv' : 'approved';
}

/** The same number always has the same behaviour: a hash of the number selects it. */
function cardListBehaviour(cardNumber: string): CardBehaviour {
  let position = createHash('sha256').update(cardNumber).digest().readUInt32BE() % 100;
  for (const [behaviour, share] of CARD_LIST_SHARES) {
    if (position < share) return behaviour;
    position -= share;
  }
  throw new Error('The shares do not add up to 100.');
}
