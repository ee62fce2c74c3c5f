/**
 * What a merchant agrees to of a partner's payment (P6), before anything is charged; what the request must be by itself is
 * in `payment-rules.ts`. Whether the payable can be had is not among them: that is decided by the statement that reserves it.
 */
import { createHash } from 'node:crypto';
import {
  type MakePaymentRequest,
  MAX_AMOUNT_CENTS,
  type MerchantFeatures,
  type MerchantGrant,
  type PaymentCustomer,
} from '@svc/contracts';
import { canonicalId, DomainError, type FieldProblem } from '@svc/kernel';

/** Who calls: the parts of the identity token that decide here. */
export interface Payer {
  readonly organisationId: string;
  readonly customerReference: string | undefined;
}

/** What a payment must agree with. */
export interface Owed {
  /** Cents. */
  readonly amount: number;
  readonly features: MerchantFeatures;
  /** Cents. */
  readonly minimumAmount: number;
  readonly grants: readonly MerchantGrant[];
}

/** Cents. */
export type ChosenAmounts = Pick<MakePaymentRequest, 'amount' | 'tipAmount'>;

/** Whose payment it is; {@link paymentRules} made sure that a customer's token names no other customer. */
export function customerOf({ customerReference }: Payer, { customer }: MakePaymentRequest): PaymentCustomer {
  const id = customer?.id ?? customerReference;
  if (id === undefined) throw new Error('The request of a service names no customer.');
  return { id, firstName: customer?.firstName ?? '', lastName: customer?.lastName ?? '' };
}

/** With the name that its organisation registered, where the request says none. */
export function namedCustomer(
  customer: PaymentCustomer,
  known: Omit<PaymentCustomer, 'id'> | undefined,
): PaymentCustomer {
  const isNamed = customer.firstName !== '' || customer.lastName !== '';
  return isNamed || !known ? customer : { ...known, id: customer.id };
}

/** What the merchant agrees to. Throws 403 for claims without a grant, 422 for the rest. */
export function checkTerms({ organisationId }: Payer, request: MakePaymentRequest, owed: Owed): void {
  const grant = owed.grants.find((each) => each.organisationId === organisationId);
  if ((request.vouchers?.length && !grant?.vouchers) || (request.paymentMethod?.external && !grant?.externalPayments))
    throw new DomainError('credentials.forbidden', {
      message: 'This merchant has not granted that to your organisation.',
    });
  checkAmount(request, owed);

  const problems = tipProblems(request, owed);
  const { required = false, editable, label = 'orderReference' } = owed.features.orderReference ?? {};
  if (required && !isGiven(request.orderReference))
    problems.push({
      field: 'orderReference',
      message: `orderReference is required by this merchant (${label})`,
    });
  if (!required && editable === false && isGiven(request.orderReference))
    problems.push({ field: 'orderReference', message: 'This merchant does not take an orderReference' });
  if (problems.length > 0) throw new DomainError('payment.not-accepted', { fields: problems });
}

/** What a payer chose on the page of an invoice, as {@link checkTerms}: the page names no organisation and no order. */
export function checkChosenAmounts(chosen: ChosenAmounts, owed: Omit<Owed, 'grants'>): void {
  checkAmount(chosen, owed);
  const problems = tipProblems(chosen, owed);
  // The acquirer takes no more at once.
  if (chosen.amount + (chosen.tipAmount ?? 0) > MAX_AMOUNT_CENTS)
    problems.push({ field: 'tipAmount', message: `Amount and tip must not be more than ${MAX_AMOUNT_CENTS} together` });
  if (problems.length > 0) throw new DomainError('payment.not-accepted', { fields: problems });
}

function checkAmount({ amount }: ChosenAmounts, owed: Omit<Owed, 'grants'>): void {
  if (amount !== owed.amount && owed.features.amount?.editable !== true) throw new DomainError('payable.mismatch');
  // Any payment closes the invoice as paid; one that owes less than the minimum is still paid as it stands.
  if (amount < Math.min(owed.amount, owed.minimumAmount)) throw new DomainError('payable.mismatch');
}

function tipProblems({ tipAmount }: ChosenAmounts, { features }: Omit<Owed, 'grants'>): FieldProblem[] {
  return (tipAmount ?? 0) > 0 && features.tip?.enabled !== true
    ? [{ field: 'tipAmount', message: 'This merchant does not take tips' }]
    : [];
}

/**
 * Tells whether a reference that comes again asks for the same (C7). Card data is left out: it differs each time, and is
 * written nowhere, in no form (P8).
 */
export function fingerprintOf(request: MakePaymentRequest, customer: PaymentCustomer): string {
  const { external } = request.paymentMethod ?? {};
  const fields = [
    request.code ?? null,
    request.invoiceReference?.toLowerCase() ?? null,
    request.amount,
    request.tipAmount ?? 0,
    request.orderReference ?? null,
    (request.vouchers ?? []).map(({ merchantLiable, amount }) => [merchantLiable, amount]),
    [canonicalId(customer.id), customer.firstName, customer.lastName],
    external ? [external.type, external.status, external.reference] : null,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
