import { newPspReference } from './psp-reference.js';

export type ErrorType = 'validation' | 'security' | 'configuration' | 'internal';

/** Adyen's ServiceError (OpenAPI document of Checkout). */
export interface ServiceError {
  readonly status: number;
  readonly errorCode: string;
  readonly message: string;
  readonly errorType: ErrorType;
  readonly pspReference?: string;
}

/** An error response of Adyen. */
export class AdyenError extends Error {
  override readonly name = 'AdyenError';

  constructor(
    readonly status: number,
    readonly errorCode: string,
    message: string,
    readonly errorType: ErrorType = 'validation',
    /**
     * Whether the same request with the same key may succeed later (documentation: "API idempotency"). Such an error is
     * not stored as the first response to its key.
     */
    readonly isTransient = false,
  ) {
    super(message);
  }

  /** As in the examples of the OpenAPI document, errors 400 and 401 have no PSP reference. */
  toServiceError(): ServiceError {
    const { status, errorCode, message, errorType } = this;
    const isProcessed = status !== 400 && status !== 401;
    return { status, errorCode, message, errorType, ...(isProcessed ? { pspReference: newPspReference() } : {}) };
  }
}

/** OpenAPI document of Checkout, example `generic-401`. */
export const UNAUTHORISED = new AdyenError(401, '000', 'HTTP Status Response - Unauthorized', 'security');

/** OpenAPI document of Checkout, example `generic-403`. */
export function invalidMerchantAccount(): AdyenError {
  return new AdyenError(403, '901', 'Invalid Merchant Account', 'security');
}

/** Documentation: "API idempotency". The status is 422 or 409. */
export function requestInProgress(): AdyenError {
  return new AdyenError(422, '704', 'request already processed or in progress', 'validation', true);
}

/** `checkout.spec.ts` and `modification.spec.ts` of Adyen's library for Node.js. */
export function originalNotFound(): AdyenError {
  return new AdyenError(422, '167', 'Original pspReference required for this operation');
}

/** Adyen's help page "Why do I receive a 803 PaymentDetail not found error?". It does not name the HTTP status. */
export function storedCardNotFound(): AdyenError {
  return new AdyenError(422, '803', 'PaymentDetail not found');
}

/** Documentation: "Error codes and messages", generic error codes. */
export function requiredFieldMissing(field: string): AdyenError {
  switch (field) {
    case 'amount':
      return new AdyenError(422, '100', "Required object 'amount' is not provided.");
    case 'reference':
      return new AdyenError(422, '130', "Required field 'reference' is not provided.");
    case 'returnUrl':
      return new AdyenError(422, '14_030', 'Return URL is missing.');
    case 'merchantAccount':
      return invalidMerchantAccount();
    default:
      return new AdyenError(422, '14_002', `Required field '${field}' is not provided.`);
  }
}
