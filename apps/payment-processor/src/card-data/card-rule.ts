import type { FieldRule } from '@svc/kernel';
import { type Card } from './card.js';
import { cardProblems } from './decrypted-card.js';

/**
 * Reports the invalid fields of a plain-text card together with the other errors of a request. If the request has no
 * other error, the rule reports nothing, because a card may expire between an accepted payment and its retry. The retry
 * must still return the first response (C7). {@link CardKeys} checks the card again before a charge.
 *
 * @param parent path of the card with a trailing full stop, or `''`
 * @param getCard returns the plain-text card of the request, or undefined when the request has none. The fields of the
 *   card may be malformed
 */
export function cardRule<Request>(
  now: Date,
  parent: string,
  reads: FieldRule<Request>['reads'],
  getCard: (request: Request) => Partial<Record<keyof Card, unknown>> | null | undefined,
  { needsCvv = true }: { needsCvv?: boolean } = {},
): FieldRule<Request> {
  return {
    reads,
    onlyWithOtherErrors: true,
    check: (request, isMalformed) => {
      const card = getCard(request);
      // Another rule reports a card that is not an object, for example a list.
      if (typeof card !== 'object' || card === null) return [];
      const listInputFields = (field: string): string[] =>
        field === `${parent}expiryDate` ? [`${parent}expiryMonth`, `${parent}expiryYear`] : [field];
      return cardProblems(card, now, { parent, needsCvv }).filter(
        ({ field }) => !listInputFields(field).some(isMalformed),
      );
    },
  };
}
