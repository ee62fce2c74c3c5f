/**
 * What a partner's payment must be beside the form of its fields (P6), before anything is looked up. What the merchant
 * agrees to is `payment-terms.ts`.
 */
import { type MakePaymentRequest, MAX_AMOUNT_CENTS, MAX_URL_LENGTH } from '@svc/contracts';
import {
  canonicalId,
  codeOfParameter,
  DomainError,
  type FieldProblem,
  type FieldRule,
  merchantUrlProblem,
  type MerchantUrlRules,
  rulesFor,
} from '@svc/kernel';
import { cardRule } from '../card-data/card-rule.js';
import { amountToProcess, vouchersTotal } from '../payables/amount-to-process.js';
import { isGiven, type Payer } from './payment-terms.js';

const rule = rulesFor<MakePaymentRequest>();
type Amounts = Pick<MakePaymentRequest, 'amount' | 'tipAmount' | 'vouchers'>;

/** The rules throw `credentials.forbidden` where a customer pays as another, or claims what only a partner may say. */
export function paymentRules(payer: Payer, addresses: MerchantUrlRules, now: Date): FieldRule<MakePaymentRequest>[] {
  return [...payerRules(payer), ...METHOD_AND_AMOUNT_RULES, returnUrlRule(addresses), clearCardRule(now)];
}

function payerRules({ customerReference }: Payer): FieldRule<MakePaymentRequest>[] {
  const partnersOnly = (isClaimed: boolean): void => {
    if (isClaimed && customerReference !== undefined) throw new DomainError('credentials.forbidden');
  };
  return [
    rule(['customer'], ({ customer }) => {
      if (customerReference === undefined)
        return customer ? [] : problem('customer', 'customer is required with a service token');
      // Under a customer's token its own, and no other.
      if (customer && canonicalId(customer.id) !== customerReference) throw new DomainError('credentials.forbidden');
      return [];
    }),
    rule(['vouchers'], ({ vouchers }) => (partnersOnly((vouchers?.length ?? 0) > 0), [])),
    rule(['paymentMethod'], ({ paymentMethod }) => (partnersOnly(isGiven(paymentMethod?.external)), [])),
  ];
}

const METHOD_AND_AMOUNT_RULES: readonly FieldRule<MakePaymentRequest>[] = [
  rule(['code', 'invoiceReference'], ({ code, invoiceReference }) =>
    isGiven(code) === isGiven(invoiceReference)
      ? problem('code', 'Either code or invoiceReference is required, and not both')
      : [],
  ),
  rule(['code'], ({ code }) => (code ? codeProblems(code) : [])),
  rule(['amount', 'vouchers'], ({ amount, vouchers }) =>
    vouchersTotal(vouchers ?? []) > amount ? problem('vouchers', 'vouchers must not cover more than the amount') : [],
  ),
  // The acquirer takes no more at once; asked for it, it would refuse what by then holds the payable.
  rule(['amount', 'tipAmount', 'vouchers'], (amounts) =>
    leftToProcess(amounts) > MAX_AMOUNT_CENTS
      ? problem('tipAmount', `amount and tipAmount must not be more than ${MAX_AMOUNT_CENTS} together`)
      : [],
  ),
  rule(['amount', 'tipAmount', 'vouchers', 'paymentMethod'], ({ paymentMethod, ...amounts }) => {
    const { card, external } = paymentMethod ?? {};
    const isMissing = leftToProcess(amounts) > 0 && !isGiven(card) && !isGiven(external);
    return isMissing || (isGiven(card) && isGiven(external))
      ? problem('paymentMethod', 'paymentMethod must have either card or external')
      : [];
  }),
  // Which of two cards was meant to be charged cannot be known.
  rule(['paymentMethod'], ({ paymentMethod }) => {
    const { token, encryptedCard, cardNumber } = paymentMethod?.card ?? {};
    return [token, encryptedCard, cardNumber].filter(isGiven).length > 1
      ? problem('paymentMethod.card', 'card must have one of token, encryptedCard and cardNumber')
      : [];
  }),
];

function returnUrlRule(addresses: MerchantUrlRules): FieldRule<MakePaymentRequest> {
  return rule(['returnUrl'], ({ returnUrl }) => {
    if (returnUrl === undefined || returnUrl === null) return [];
    const refused = merchantUrlProblem('returnUrl', returnUrl, addresses);
    if (refused) return refused;
    return new URL(returnUrl).href.length > MAX_URL_LENGTH
      ? problem('returnUrl', `returnUrl must be at most ${MAX_URL_LENGTH} characters when it is encoded`)
      : [];
  });
}

/** A card in clear that would be charged; one that is stored or encrypted is looked at when it is opened. */
function clearCardRule(now: Date): FieldRule<MakePaymentRequest> {
  return cardRule<MakePaymentRequest>(now, 'paymentMethod.card.', ['amount', 'tipAmount', 'vouchers'], (request) => {
    const { card, external } = request.paymentMethod ?? {};
    return isGiven(external) || isGiven(card?.token) || isGiven(card?.encryptedCard) || leftToProcess(request) <= 0
      ? undefined
      : card;
  });
}

function leftToProcess({ amount, tipAmount, vouchers }: Amounts): number {
  return amountToProcess({ amount, tipAmount: tipAmount ?? 0, vouchers: vouchers ?? [] });
}

function codeProblems(code: string): readonly FieldProblem[] {
  try {
    codeOfParameter(code);
    return [];
  } catch (error) {
    if (error instanceof DomainError) return error.fields;
    throw error;
  }
}

function problem(field: string, message: string): FieldProblem {
  return { field, message };
}
