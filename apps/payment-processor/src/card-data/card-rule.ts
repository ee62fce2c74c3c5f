import type { FieldRule } from '@svc/kernel';
import { type Card } from './card.js';
import { cardProblems } from './opened-card.js';

/**
 * Names what is wrong with a card in clear beside the other wrong fields of a request. Alone it refuses nothing: a card
 * expires, and a repeat of an accepted payment is answered all the same (C7). Whoever opens the card checks it then.
 *
 * @param parent path of the card with its full stop, or `''`
 * @param cardOf the card in clear; undefined where none is to be opened. Its fields may be malformed
 */
export function cardRule<Request>(
  now: Date,
  parent: string,
  reads: FieldRule<Request>['reads'],
  cardOf: (request: Request) => Partial<Record<keyof Card, unknown>> | null | undefined,
  { needsCvv = true }: { needsCvv?: boolean } = {},
): FieldRule<Request> {
  return {
    reads,
    onlyBesideOthers: true,
    check: (request, isMalformed) => {
      const card = cardOf(request);
      // A card that is malformed as a whole, a list for example, is named as such.
      if (typeof card !== 'object' || card === null) return [];
      const partsOf = (field: string): string[] =>
        field === `${parent}expiryDate` ? [`${parent}expiryMonth`, `${parent}expiryYear`] : [field];
      return cardProblems(card, now, { parent, needsCvv }).filter(({ field }) => !partsOf(field).some(isMalformed));
    },
  };
}
