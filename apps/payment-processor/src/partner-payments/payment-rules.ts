/**
 * Validation rules for the fields of a partner's payment (P6) that depend on several fields or on the caller. The rules
 * need no database. The merchant's terms are checked in `payment-terms.ts`.
 */
import { type MakePaymentRequest, MAX_AMOUNT_CENTS, MAX_URL_LENGTH } from '@svc/contracts';
import {
  canonicalId,
  decodeCodeParameter,
  DomainError,
  encodeUrlForHeader,
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

/**
 * The rules throw `credentials.forbidden` when a customer pays as another customer, or uses fields that only a service
 * token may use.
 */
export function paymentRules(payer: Payer, urlRules: MerchantUrlRules, now: Date): FieldRule<MakePaymentRequest>[] {
  return [...payerRules(payer), ...METHOD_AND_AMOUNT_RULES, returnUrlRule(urlRules), plainCardRule(now)];
}

function payerRules({ customerReference }: Payer): FieldRule<MakePaymentRequest>[] {
  const requireServiceToken = (isUsed: boolean): void => {
    if (isUsed && customerReference !== undefined) throw new DomainError('credentials.forbidden');
  };
  return [
    rule(['customer'], ({ customer }) => {
      if (customerReference === undefined)
        return customer ? [] : fieldProblem('customer', 'customer is required with a service token');
      // A customer's token may name only its own customer.
      if (customer && canonicalId(customer.id) !== customerReference) throw new DomainError('credentials.forbidden');
      return [];
    }),
    rule(['vouchers'], ({ vouchers }) => (requireServiceToken((vouchers?.length ?? 0) > 0), [])),
    rule(['paymentMethod'], ({ paymentMethod }) => (requireServiceToken(isPresent(paymentMethod?.external)), [])),
  ];
}

const METHOD_AND_AMOUNT_RULES: readonly FieldRule<MakePaymentRequest>[] = [
  rule(['code', 'invoiceReference'], ({ code, invoiceReference }) =>
    isPresent(code) === isPresent(invoiceReference)
      ? fieldProblem('code', 'Either code or invoiceReference is required, and not both')
      : [],
  ),
  rule(['code'], ({ code }) => (code ? codeProblems(code) : [])),
  rule(['amount', 'vouchers'], ({ amount, vouchers }) =>
    vouchersTotal(vouchers ?? []) > amount
      ? fieldProblem('vouchers', 'vouchers must not cover more than the amount')
      : [],
  ),
  // This is the acquirer's limit for a charge. The acquirer would decline a larger charge, but only after the payable
  // is reserved.
  rule(['amount', 'tipAmount', 'vouchers'], (amounts) =>
    remainingAmount(amounts) > MAX_AMOUNT_CENTS
      ? fieldProblem('tipAmount', `amount and tipAmount must not be more than ${MAX_AMOUNT_CENTS} together`)
      : [],
  ),
  rule(['amount', 'tipAmount', 'vouchers', 'paymentMethod'], ({ paymentMethod, ...amounts }) => {
    const { card, external } = paymentMethod ?? {};
    const isMethodMissing = remainingAmount(amounts) > 0 && !isPresent(card) && !isPresent(external);
    return isMethodMissing || (isPresent(card) && isPresent(external))
      ? fieldProblem('paymentMethod', 'paymentMethod must have either card or external')
      : [];
  }),
  // With two cards it is unclear which card must be charged.
  rule(['paymentMethod'], ({ paymentMethod }) => {
    const { token, encryptedCard, cardNumber } = paymentMethod?.card ?? {};
    return [token, encryptedCard, cardNumber].filter(isPresent).length > 1
      ? fieldProblem('paymentMethod.card', 'card must have one of token, encryptedCard and cardNumber')
      : [];
  }),
];

function returnUrlRule(urlRules: MerchantUrlRules): FieldRule<MakePaymentRequest> {
  return rule(['returnUrl'], ({ returnUrl }) => {
    if (returnUrl === undefined || returnUrl === null) return [];
    const invalid = merchantUrlProblem('returnUrl', returnUrl, urlRules);
    if (invalid) return invalid;
    return encodeUrlForHeader(returnUrl).length > MAX_URL_LENGTH
      ? fieldProblem('returnUrl', `returnUrl must be at most ${MAX_URL_LENGTH} characters when it is encoded`)
      : [];
  });
}

/** Checks a plain-text card that would be charged. Stored and encrypted cards are checked later. */
function plainCardRule(now: Date): FieldRule<MakePaymentRequest> {
  return cardRule<MakePaymentRequest>(now, 'paymentMethod.card.', ['amount', 'tipAmount', 'vouchers'], (request) => {
    const { card, external } = request.paymentMethod ?? {};
    return isPresent(external) ||
      isPresent(card?.token) ||
      isPresent(card?.encryptedCard) ||
      remainingAmount(request) <= 0
      ? undefined
      : card;
  });
}

function remainingAmount({ amount, tipAmount, vouchers }: Amounts): number {
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

function fieldProblem(field: string, message: string): FieldProblem {
  return { field, message };
}
