/**
 * Rules for a partner's payment across its fields (P6), before any look-up. The merchant's terms are in `payment-terms.ts`.
 */
import { type MakePaymentRequest, MAX_AMOUNT_CENTS, MAX_URL_LENGTH } from '@svc/contracts';
import {
  canonicalId,
  decodeCodeParameter,
  DomainError,
  type FieldProblem,
  type FieldRule,
  merchantUrlProblem,
  type MerchantUrlRules,
  rulesFor,
} from '@svc/kernel';
import { cardRule } from '../card-data/card-rule.js';
import { amountToProcess, vouchersTotal } from '../payables/amount-to-process.js';
import { isPresent, type Payer } from './payment-terms.js';

const rule = rulesFor<MakePaymentRequest>();
type Amounts = Pick<MakePaymentRequest, 'amount' | 'tipAmount' | 'vouchers'>;

/** The rules throw `credentials.forbidden` when a customer pays as another one, or uses fields reserved for partners. */
export function paymentRules(payer: Payer, addresses: MerchantUrlRules, now: Date): FieldRule<MakePaymentRequest>[] {
  return [...payerRules(payer), ...METHOD_AND_AMOUNT_RULES, returnUrlRule(addresses), clearCardRule(now)];
}

function payerRules({ customerReference }: Payer): FieldRule<MakePaymentRequest>[] {
  const partnersOnly = (isUsed: boolean): void => {
    if (isUsed && customerReference !== undefined) throw new DomainError('credentials.forbidden');
  };
  return [
    rule(['customer'], ({ customer }) => {
      if (customerReference === undefined)
        return customer ? [] : problem('customer', 'customer is required with a service token');
      // A customer's token may name only its own customer.
      if (customer && canonicalId(customer.id) !== customerReference) throw new DomainError('credentials.forbidden');
      return [];
    }),
    rule(['vouchers'], ({ vouchers }) => (partnersOnly((vouchers?.length ?? 0) > 0), [])),
    rule(['paymentMethod'], ({ paymentMethod }) => (partnersOnly(isPresent(paymentMethod?.external)), [])),
  ];
}

const METHOD_AND_AMOUNT_RULES: readonly FieldRule<MakePaymentRequest>[] = [
  rule(['code', 'invoiceReference'], ({ code, invoiceReference }) =>
    isPresent(code) === isPresent(invoiceReference)
      ? problem('code', 'Either code or invoiceReference is required, and not both')
      : [],
  ),
  rule(['code'], ({ code }) => (code ? codeProblems(code) : [])),
  rule(['amount', 'vouchers'], ({ amount, vouchers }) =>
    vouchersTotal(vouchers ?? []) > amount ? problem('vouchers', 'vouchers must not cover more than the amount') : [],
  ),
  // The acquirer's limit for a charge. It would decline a larger one only after the payable is reserved.
  rule(['amount', 'tipAmount', 'vouchers'], (amounts) =>
    leftToProcess(amounts) > MAX_AMOUNT_CENTS
      ? problem('tipAmount', `amount and tipAmount must not be more than ${MAX_AMOUNT_CENTS} together`)
      : [],
  ),
  rule(['amount', 'tipAmount', 'vouchers', 'paymentMethod'], ({ paymentMethod, ...amounts }) => {
    const { card, external } = paymentMethod ?? {};
    const isMissing = leftToProcess(amounts) > 0 && !isPresent(card) && !isPresent(external);
    return isMissing || (isPresent(card) && isPresent(external))
      ? problem('paymentMethod', 'paymentMethod must have either card or external')
      : [];
  }),
  // With two cards it is unclear which one to charge.
  rule(['paymentMethod'], ({ paymentMethod }) => {
    const { token, encryptedCard, cardNumber } = paymentMethod?.card ?? {};
    return [token, encryptedCard, cardNumber].filter(isPresent).length > 1
      ? problem('paymentMethod.card', 'card must have one of token, encryptedCard and cardNumber')
      : [];
  }),
];

function returnUrlRule(addresses: MerchantUrlRules): FieldRule<MakePaymentRequest> {
  return rule(['returnUrl'], ({ returnUrl }) => {
    if (returnUrl === undefined || returnUrl === null) return [];
    const invalid = merchantUrlProblem('returnUrl', returnUrl, addresses);
    if (invalid) return invalid;
    return new URL(returnUrl).href.length > MAX_URL_LENGTH
      ? problem('returnUrl', `returnUrl must be at most ${MAX_URL_LENGTH} characters when it is encoded`)
      : [];
  });
}

/** Checks a plain-text card that would be charged; stored and encrypted cards are checked later. */
function clearCardRule(now: Date): FieldRule<MakePaymentRequest> {
  return cardRule<MakePaymentRequest>(now, 'paymentMethod.card.', ['amount', 'tipAmount', 'vouchers'], (request) => {
    const { card, external } = request.paymentMethod ?? {};
    return isPresent(external) ||
      isPresent(card?.token) ||
      isPresent(card?.encryptedCard) ||
      leftToProcess(request) <= 0
      ? undefined
      : card;
  });
}

function leftToProcess({ amount, tipAmount, vouchers }: Amounts): number {
  return amountToProcess({ amount, tipAmount: tipAmount ?? 0, vouchers: vouchers ?? [] });
}

function codeProblems(code: string): readonly FieldProblem[] {
  try {
    decodeCodeParameter(code);
    return [];
  } catch (error) {
    if (error instanceof DomainError) return error.fields;
    throw error;
  }
}

function problem(field: string, message: string): FieldProblem {
  return { field, message };
}
