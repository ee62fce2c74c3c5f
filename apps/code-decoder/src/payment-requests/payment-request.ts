import { createHash } from 'node:crypto';
import {
  type CreateInvoiceRequest,
  type CreatePaymentRequest,
  isAmountInCents,
  isText,
  MAX_AMOUNT_CENTS,
  MAX_IDENTIFIER_LENGTH,
  MAX_REQUEST_DESCRIPTION_LENGTH,
  MAX_REQUEST_LIFETIME_MS,
  MIN_REQUEST_LIFETIME_MS,
  toLabel,
} from '@svc/contracts';
import { invalidField, isUuid } from '@svc/kernel';
import type { RequestIdentity } from '../invoices/request-identity.js';

/** Creator of the invoices, as payment apps see it. */
const ORIGIN = 'Console';
/** A line item needs an identifier. No page shows it. */
const PRODUCT_CODE = 'payment-request';

/** A valid command, with the time at which the payment request expires. */
export type ValidPaymentRequest = CreatePaymentRequest & { readonly expiresAt: Date };

/** Throws `request.invalid` with the first field that breaks a rule. */
export function readPaymentRequest(command: CreatePaymentRequest, now: Date): ValidPaymentRequest {
  const { amount, externalReference, expiresUTCDate, idempotencyKey, personId } = command;
  const description = toLabel(command.description);
  if (!isAmountInCents(amount))
    throw invalidField('amount', `amount must be whole cents from 1 to ${MAX_AMOUNT_CENTS}`);
  if (!isText(description, MAX_REQUEST_DESCRIPTION_LENGTH))
    throw invalidField('description', `description must be text of 1 to ${MAX_REQUEST_DESCRIPTION_LENGTH} characters`);
  if (externalReference !== undefined && !isText(externalReference, MAX_IDENTIFIER_LENGTH))
    throw invalidField(
      'externalReference',
      `externalReference must be text of 1 to ${MAX_IDENTIFIER_LENGTH} characters`,
    );
  if (!isUuid(idempotencyKey)) throw invalidField('idempotencyKey', 'idempotencyKey must be a UUID');
  if (!isUuid(personId)) throw invalidField('personId', 'personId must be a UUID');
  const expiresAt = new Date(expiresUTCDate);
  const lifetimeMs = expiresAt.getTime() - now.getTime();
  if (!(lifetimeMs >= MIN_REQUEST_LIFETIME_MS && lifetimeMs <= MAX_REQUEST_LIFETIME_MS))
    throw invalidField('expiresUTCDate', 'expiresUTCDate must be from one minute to 32 days from now');
  return { ...command, description, expiresAt };
}

/** The invoice of a payment request. Its only line item has the description, so payers see it in every app. */
export function buildInvoiceRequest(
  { amount, description, externalReference }: CreatePaymentRequest,
  siteReference: string,
  now: Date,
): CreateInvoiceRequest {
  return {
    ...(externalReference === undefined ? {} : { externalReference }),
    siteReference,
    currencyISOCode: 'ZAR',
    amount,
    lineItems: [{ name: description, productCode: PRODUCT_CODE, unitPrice: amount }],
    origin: ORIGIN,
    createdUTCDate: now.toISOString(),
  };
}

/**
 * Identifies a payment request by the key of its form. The prefix separates these keys from the Idempotency-Keys of tills
 * at the same site.
 */
export function identifyPaymentRequest(request: CreatePaymentRequest): RequestIdentity {
  const { amount, description, externalReference, expiresUTCDate, idempotencyKey } = request;
  const fields = [amount, description, externalReference ?? null, new Date(expiresUTCDate).toISOString()];
  return {
    requestId: `key:console:${idempotencyKey.toLowerCase()}`,
    requestFingerprint: createHash('sha256').update(JSON.stringify(fields)).digest('hex'),
  };
}
