/**
 * The error catalogue: every error that this platform returns or records on a payment.
 *
 * A program must branch on the key (`card.declined`), never on a message. {@link ErrorEntry} explains the fields.
 * `docs/errors.md` is generated from this file.
 */
export const ERROR_CATALOGUE = {
  'card.declined': {
    errorReference: '10',
    httpStatus: 402,
    retryable: false,
    message: 'The card was declined by the bank.',
  },
  'card.insufficient-funds': {
    errorReference: '11',
    httpStatus: 402,
    retryable: false,
    message: 'The card has insufficient funds.',
  },
  'card.expired': { errorReference: '12', httpStatus: 402, retryable: false, message: 'The card has expired.' },
  'card.invalid': { errorReference: '13', httpStatus: 402, retryable: false, message: 'The card number is not valid.' },
  'card.incorrect-cvv': { errorReference: '14', httpStatus: 402, retryable: false, message: 'The CVV is not correct.' },
  'card.suspected-fraud': {
    errorReference: '15',
    httpStatus: 402,
    retryable: false,
    message: 'The bank refused the payment for security reasons.',
  },
  'verification.failed': {
    errorReference: '16',
    httpStatus: 402,
    retryable: false,
    message: 'The verification with the bank failed.',
  },
  'verification.abandoned': {
    errorReference: '17',
    httpStatus: 402,
    retryable: false,
    message: 'The verification with the bank was not completed.',
  },
  'card.limit-exceeded': {
    errorReference: '18',
    httpStatus: 402,
    retryable: false,
    message: 'The payment is over a limit of the card.',
  },
  'card.too-many-attempts': {
    errorReference: '18',
    httpStatus: 422,
    retryable: false,
    message: 'This card cannot be used here at the moment. Use another card, or try again later.',
  },
  'challenge.required': {
    errorReference: '40',
    httpStatus: 428,
    retryable: false,
    message: 'The payment needs the solution of a new challenge. Nothing was charged.',
  },
  'payable.closed': {
    errorReference: '20',
    httpStatus: 409,
    retryable: false,
    message: 'This can no longer be paid: it is closed.',
  },
  'payable.paid': { errorReference: '20', httpStatus: 409, retryable: false, message: 'This has already been paid.' },
  'payable.expired': {
    errorReference: '20',
    httpStatus: 410,
    retryable: false,
    message: 'This can no longer be paid: it has expired.',
  },
  'payable.refused': {
    errorReference: '20',
    httpStatus: 409,
    retryable: false,
    message: 'This can no longer be paid: too many attempts have failed.',
  },
  'payable.not-found': {
    errorReference: '21',
    httpStatus: 404,
    retryable: false,
    message: 'There is nothing to pay under this reference.',
  },
  'payable.mismatch': {
    errorReference: '22',
    httpStatus: 422,
    retryable: false,
    message: 'The amount or currency does not match the amount due.',
  },
  'payment.in-progress': {
    errorReference: '23',
    httpStatus: 409,
    retryable: true,
    message: 'A payment is already in progress.',
  },
  'refund.amount-exceeded': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message: 'The refund is more than what is left of this payment. Pending refunds count.',
  },
  'refund.not-possible': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message: 'This payment cannot be refunded here.',
  },
  'refund.in-progress': {
    errorReference: '40',
    httpStatus: 409,
    retryable: true,
    message: 'A refund with this Idempotency-Key is already in progress.',
  },
  'payment.not-accepted': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message: 'The merchant does not accept this form of payment.',
  },
  'external.failed': {
    errorReference: '10',
    httpStatus: 402,
    retryable: false,
    message: 'The external payment was declined by the bank.',
  },
  'code.unsupported': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message: 'This kind of code is not supported.',
  },
  'code.third-party': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message:
      'This code belongs to another provider and cannot be paid here. Pay it with that provider: the origin of the decoded invoice names it.',
  },
  'code-provider.unavailable': {
    errorReference: '50',
    httpStatus: 503,
    retryable: true,
    message: 'The provider of this code could not be reached. Try again in a moment.',
  },
  'acquirer.unavailable': {
    errorReference: '30',
    httpStatus: 503,
    retryable: true,
    message: 'The bank could not be reached. Nothing was charged.',
  },
  'acquirer.outcome-unknown': {
    errorReference: '31',
    httpStatus: 503,
    retryable: false,
    message: 'The outcome at the bank was not known in time. Any charge is reversed.',
  },
  'live-mode.unavailable': {
    errorReference: '40',
    httpStatus: 403,
    retryable: false,
    message: 'Live payments are not available yet. Use a test key.',
  },
  'webhook.no-signing-key': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message: 'Webhooks cannot be signed: an API key or a webhook secret is missing.',
  },
  'look.logo-unusable': {
    errorReference: '40',
    httpStatus: 422,
    retryable: false,
    message: 'The logo cannot be used.',
  },
  'card-key.not-in-use': {
    errorReference: '40',
    httpStatus: 400,
    retryable: false,
    message:
      'The card was encrypted with a key that is no longer in use. Fetch the encryption key again, or reload the page, and try again.',
  },
  'request.invalid': { errorReference: '40', httpStatus: 400, retryable: false, message: 'The request is not valid.' },
  'request.too-large': {
    errorReference: '40',
    httpStatus: 413,
    retryable: false,
    message: 'The request body is too large.',
  },
  'request.unsupported-media-type': {
    errorReference: '40',
    httpStatus: 415,
    retryable: false,
    message: 'Send the body as application/json.',
  },
  'request.method-not-allowed': {
    errorReference: '40',
    httpStatus: 405,
    retryable: false,
    message: 'This path does not have this method. The header Allow lists the methods that it has.',
  },
  'request.not-acceptable': {
    errorReference: '40',
    httpStatus: 406,
    retryable: false,
    message: 'None of the media types in the Accept header is available here.',
  },
  'request.rate-limited': {
    errorReference: '40',
    httpStatus: 429,
    retryable: true,
    message: 'Too many requests. Wait before you try again.',
  },
  'event-id.expired': {
    errorReference: '40',
    httpStatus: 410,
    retryable: false,
    message:
      'Events after this id are no longer kept. Look the payments up, and open the stream without Last-Event-ID.',
  },
  'request.idempotency-conflict': {
    errorReference: '40',
    httpStatus: 409,
    retryable: false,
    message: 'The same key was used before with different content.',
  },
  'credentials.invalid': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The credentials are missing or not valid.',
  },
  'credentials.key-missing': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The API key is missing.',
  },
  'credentials.key-malformed': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The text that was sent is not an API key.',
  },
  'credentials.partner-key-needed': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'This needs the API key of a partner. The key of a merchant or a site was sent.',
  },
  'credentials.merchant-key-needed': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'This needs the API key of a merchant or a site. The key of a partner was sent.',
  },
  'credentials.token-missing': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The identity token is missing.',
  },
  'credentials.token-malformed': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The text that was sent is not an identity token.',
  },
  'credentials.token-expired': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The identity token has expired.',
  },
  'credentials.forbidden': {
    errorReference: '40',
    httpStatus: 403,
    retryable: false,
    message: 'These credentials do not allow this.',
  },
  'credentials.shared-key-ended': {
    errorReference: '40',
    httpStatus: 403,
    retryable: false,
    message: 'The shared administration key has ended. Send the key of an operator in x-admin-key.',
  },
  'authentication.failed': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'The email, the password, the code or the passkey is not right.',
  },
  'authentication.required': {
    errorReference: '40',
    httpStatus: 401,
    retryable: false,
    message: 'Sign in, or confirm that it is you, and then try again.',
  },
  'resource.not-found': { errorReference: '40', httpStatus: 404, retryable: false, message: 'Nothing was found here.' },
  'resource.conflict': {
    errorReference: '40',
    httpStatus: 409,
    retryable: false,
    message: 'The resource already exists.',
  },
  'service.not-ready': {
    errorReference: '50',
    httpStatus: 503,
    retryable: true,
    message: 'Not ready yet. Try again in a moment.',
  },
  'service.broken-off': {
    errorReference: '50',
    httpStatus: 502,
    retryable: false,
    message: 'The connection to the service broke before it responded. Check the result before you repeat the request.',
  },
  'service.timed-out': {
    errorReference: '50',
    httpStatus: 504,
    retryable: false,
    message: 'The service did not respond in time. Check the result before you repeat the request.',
  },
  internal: { errorReference: '50', httpStatus: 500, retryable: true, message: 'Something went wrong on our side.' },
} as const satisfies Record<string, ErrorEntry>;

export interface ErrorEntry {
  /**
   * Identifier that a customer can quote to support (P4). Several errors may share one. A string, although it
   * looks like a number (specification, "Error").
   */
  readonly errorReference: string;
  /** Status of the response when this error refuses a request. */
  readonly httpStatus: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Public text without internal details. */
  readonly message: string;
}

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** An error in a payment resource, as specified. */
export interface PaymentError {
  /** The errorReference of an entry of {@link ERROR_CATALOGUE}. */
  readonly errorReference: string;
  readonly message: string;
}

export function paymentError(code: ErrorCode): PaymentError {
  const { errorReference, message } = ERROR_CATALOGUE[code];
  return { errorReference, message };
}
