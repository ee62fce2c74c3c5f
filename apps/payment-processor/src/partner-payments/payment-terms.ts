/**
 * The rules of a partner's payment (P6), before anything is charged: who may say what, and what the merchant agrees to.
 * Whether the payable can be had is not among them: that is decided by the statement that reserves it.
 */
import { createHash } from 'node:crypto';
import {
  type MakePaymentRequest,
  MAX_AMOUNT_CENTS,
  type MerchantFeatures,
  type MerchantGrant,
  type PaymentCustomer,
} from '@svc/contracts';
import { canonicalId, DomainError, type FieldProblem, invalidField } from '@svc/kernel';
import { vouchersTotal } from '../payments/payment.js';

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

/** Whose payment it is. Under a customer's token its own, and no other (403); a service token has to say. */
export function customerOf({ customerReference }: Payer, { customer }: MakePaymentRequest): PaymentCustomer {
  const id = customer?.id ?? customerReference;
  if (customerReference !== undefined && canonicalId(id!) !== customerReference)
    throw new DomainError('credentials.forbidden');
  if (id === undefined) throw invalidField('customer', 'customer is required with a service token');
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

/** What needs no look-up: refused before anybody learns whether there is something to pay. */
export function checkRequest(payer: Payer, request: MakePaymentRequest): void {
  const { code, invoiceReference, paymentMethod, vouchers, amount } = request;
  // Claims of the partner, not of its customers.
  if (payer.customerReference !== undefined && (vouchers?.length || paymentMethod?.external))
    throw new DomainError('credentials.forbidden');
  if (isGiven(code) === isGiven(invoiceReference))
    throw invalidField('code', 'Either code or invoiceReference is required, and not both');
  const covered = vouchersTotal(vouchers ?? []);
  if (covered > amount) throw invalidField('vouchers', 'vouchers must not cover more than the amount');
  const left = amount - covered + (request.tipAmount ?? 0);
  // The acquirer takes no more at once; asked for it, it would refuse what by then holds the payable.
  if (left > MAX_AMOUNT_CENTS)
    throw invalidField('tipAmount', `amount and tipAmount must not be more than ${MAX_AMOUNT_CENTS} together`);
  const { card, external } = paymentMethod ?? {};
  if ((isGiven(card) && isGiven(external)) || (left > 0 && !isGiven(card) && !isGiven(external)))
    throw invalidField('paymentMethod', 'paymentMethod must have either card or external');
  // Which of two cards was meant to be charged cannot be known.
  if ([card?.token, card?.encryptedCard, card?.cardNumber].filter(isGiven).length > 1)
    throw invalidField('paymentMethod.card', 'card must have one of token, encryptedCard and cardNumber');
}

/** What the merchant agrees to. Throws 403 for claims without a grant, 422 for the rest. */
export function checkTerms({ organisationId }: Payer, request: MakePaymentRequest, owed: Owed): void {
  const { features, grants } = owed;
  const grant = grants.find((each) => each.organisationId === organisationId);
  if ((request.vouchers?.length && !grant?.vouchers) || (request.paymentMethod?.external && !grant?.externalPayments))
    throw new DomainError('credentials.forbidden', {
      message: 'This merchant has not granted that to your organisation.',
    });
  if (request.amount !== owed.amount && features.amount?.editable !== true) throw new DomainError('payable.mismatch');
  // Any payment closes the invoice as paid; one that owes less than the minimum is still paid as it stands.
  if (request.amount < Math.min(owed.amount, owed.minimumAmount)) throw new DomainError('payable.mismatch');

  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string): void => void problems.push({ field, message });
  if ((request.tipAmount ?? 0) > 0 && features.tip?.enabled !== true)
    refuse('tipAmount', 'This merchant does not take tips');
  const { required = false, editable, label = 'orderReference' } = features.orderReference ?? {};
  if (required && !isGiven(request.orderReference))
    refuse('orderReference', `orderReference is required by this merchant (${label})`);
  if (!required && editable === false && isGiven(request.orderReference))
    refuse('orderReference', 'This merchant does not take an orderReference');
  if (problems.length > 0) throw new DomainError('payment.not-accepted', { fields: problems });
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

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
