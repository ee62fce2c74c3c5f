import type { FieldRule } from '@svc/kernel';
import { type Card } from './card.js';
import { cardProblems } from './opened-card.js';

/**
 * Adds the problems of a plain-text card to the other problems of a request. It rejects nothing when there are no others: a card
 * may expire between an accepted payment and its retry, which must still be replayed (C7). The card is checked again when it is opened.
 *
 * @param parent path of the card with a trailing full stop, or `''`
 * @param cardOf the plain-text card; undefined when none will be opened. Its fields may be malformed
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
    onlyWithOtherErrors: true,
    check: (request, isMalformed) => {
      const card = cardOf(request);
      // Another rule reports a card that is not an object, for example a list.
      if (typeof card !== 'object' || card === null) return [];
      const partsOf = (field: string): string[] =>
        field === `${parent}expiryDate` ? [`${parent}expiryMonth`, `${parent}expiryYear`] : [field];
      return cardProblems(card, now, { parent, needsCvv }).filter(({ field }) => !partsOf(field).some(isMalformed));
    },
  };
}
