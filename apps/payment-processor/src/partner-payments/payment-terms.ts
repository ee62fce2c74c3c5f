/**
 * Checks a partner's payment against the merchant's terms (P6) before a charge. The rules for the request itself are in
 * `payment-rules.ts`. The SQL statement that reserves the payable decides whether the payable is available.
 */
import { createHash } from 'node:crypto';
import {
  type AmountTerms,
  computeAmountLimits,
  type MakePaymentRequest,
  MAX_AMOUNT_CENTS,
  type MerchantFeatures,
  type MerchantGrant,
  type PaymentCustomer,
} from '@svc/contracts';
import { canonicalId, describeCents, DomainError, type FieldProblem } from '@svc/kernel';

/** The caller, from its identity token. */
export interface Payer {
  readonly organisationId: string;
  readonly customerReference: string | undefined;
}

/** The amount of the payable and the merchant's terms. */
export interface PaymentTerms extends AmountTerms {
  /** Cents. */
  readonly amount: number;
  readonly features: MerchantFeatures;
  readonly grants: readonly MerchantGrant[];
}

/** Cents. */
type ChosenAmounts = Pick<MakePaymentRequest, 'amount' | 'tipAmount'>;

/**
 * The paying customer. {@link paymentRules} has already checked that a customer's token is not used for another
 * customer.
 */
export function resolveCustomer({ customerReference }: Payer, { customer }: MakePaymentRequest): PaymentCustomer {
  const id = customer?.id ?? customerReference;
  if (id === undefined) throw new Error('The request of a service names no customer.');
  return { id, firstName: customer?.firstName ?? '', lastName: customer?.lastName ?? '' };
}

/** Adds the registered name of the customer when the request has no name. */
export function addRegisteredName(
  customer: PaymentCustomer,
  registeredName: Omit<PaymentCustomer, 'id'> | undefined,
): PaymentCustomer {
  const hasName = customer.firstName !== '' || customer.lastName !== '';
  return hasName || !registeredName ? customer : { ...registeredName, id: customer.id };
}

/** Throws 403 for vouchers and external payments without a grant, 422 for other violations of the terms. */
export function checkTerms({ organisationId }: Payer, request: MakePaymentRequest, terms: PaymentTerms): void {
  const grant = terms.grants.find((candidate) => candidate.organisationId === organisationId);
  if ((request.vouchers?.length && !grant?.vouchers) || (request.paymentMethod?.external && !grant?.externalPayments))
    throw new DomainError('credentials.forbidden', {
      message: 'This merchant has not granted that to your organisation.',
    });
  checkAmount(request, terms);

  const problems = tipProblems(request, terms);
  const { required = false, editable, label = 'orderReference' } = terms.features.orderReference ?? {};
  if (required && !isPresent(request.orderReference))
    problems.push({
      field: 'orderReference',
      message: `orderReference is required by this merchant (${label})`,
    });
  if (!required && editable === false && isPresent(request.orderReference))
    problems.push({ field: 'orderReference', message: 'This merchant does not take an orderReference' });
  if (problems.length > 0) throw new DomainError('payment.not-accepted', { fields: problems });
}

/**
 * Checks the amounts that a payer chose on the page of an invoice. Such a payment has no organisation and no order
 * reference.
 */
export function checkChosenAmounts(chosen: ChosenAmounts, terms: Omit<PaymentTerms, 'grants'>): void {
  checkAmount(chosen, terms);
  const problems = tipProblems(chosen, terms);
  // The acquirer's limit for a charge.
  if (chosen.amount + (chosen.tipAmount ?? 0) > MAX_AMOUNT_CENTS)
    problems.push({ field: 'tipAmount', message: `Amount and tip must not be more than ${MAX_AMOUNT_CENTS} together` });
  if (problems.length > 0) throw new DomainError('payment.not-accepted', { fields: problems });
}

function checkAmount({ amount, tipAmount }: ChosenAmounts, terms: Omit<PaymentTerms, 'grants'>): void {
  if (amount !== terms.amount && terms.features.amount?.editable !== true) throw newAmountError(terms.amount);
  // Any payment sets the invoice to paid, so a minimum is required. The maxima protect payers from typing errors.
  const { min, max, tipMax } = computeAmountLimits(terms.amount, terms);
  const isTipTooHigh = terms.features.tip?.enabled === true && (tipAmount ?? 0) > tipMax;
  if (amount < min || amount > max) {
    const message = `amount must be from ${describeCents(min)} to ${describeCents(max)}: ${describeCents(terms.amount)} is due.`;
    throw new DomainError('payable.mismatch', { message });
  }
  if (isTipTooHigh) {
    const message = `tipAmount must be at most ${describeCents(tipMax)}, the amount due.`;
    throw new DomainError('payable.mismatch', { message });
  }
}

/** The error for an amount that the payer cannot choose. @param amountDue cents */
export function newAmountError(amountDue: number): DomainError {
  return new DomainError('payable.mismatch', {
    message: `amount must be ${describeCents(amountDue)}, the amount due.`,
  });
}

function tipProblems({ tipAmount }: ChosenAmounts, { features }: Omit<PaymentTerms, 'grants'>): FieldProblem[] {
  return (tipAmount ?? 0) > 0 && features.tip?.enabled !== true
    ? [{ field: 'tipAmount', message: 'This merchant does not take tips' }]
    : [];
}

/**
 * Fingerprint that detects the reuse of a reference with a different request (C7). Card data is omitted, because its
 * encryption differs each time and because card data is never stored in any form (P8).
 */
export function computeFingerprint(request: MakePaymentRequest, customer: PaymentCustomer): string {
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

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
