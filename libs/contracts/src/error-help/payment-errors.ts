import type { ErrorCode } from '../errors.js';
import type { ErrorHelp } from './error-help.js';

const DECLINED_WHERE =
  'Recorded on a failed payment: the hosted page, its webhook (`userMessage`), and `errors` of POST and GET /v1/payments.';
const NOT_THE_SAME_CARD =
  'No. The same card data gets the same result. A new payment with other card data may succeed.';
const PAYABLE_WHERE = 'Hosted page, POST /v1/payments, GET /v1/codes/{code} and GET of an invoice.';

/** Errors of cards, banks, payables, payments and refunds. */
export const PAYMENT_ERROR_HELP = {
  'card.declined': {
    meaning: 'The bank that issued the card declined the payment without a reason. Nothing was charged.',
    steps: [
      ['The bank does not allow this payment.', 'Ask the payer to use another card, or to call the bank.'],
      ['A test with card 4000 0000 0000 0002.', 'Use 4242 4242 4242 4242 for an approval.'],
    ],
    repeat: NOT_THE_SAME_CARD,
    where: DECLINED_WHERE,
  },
  'card.insufficient-funds': {
    meaning: 'The account of the card does not have enough money. Nothing was charged.',
    steps: [['Too little money on the account.', 'Ask the payer to use another card, or to pay later.']],
    repeat: 'Only after the payer has put money on the account, as a new payment.',
    where: DECLINED_WHERE,
  },
  'card.expired': {
    meaning: 'The card is past its expiry date. Nothing was charged.',
    steps: [
      ['The expiry date was mistyped.', 'Ask the payer to check month and year.'],
      ['The card is too old.', 'Ask the payer to use the new card. Delete the stored one: DELETE /v1/cards/{token}.'],
    ],
    repeat: NOT_THE_SAME_CARD,
    where: DECLINED_WHERE,
  },
  'card.invalid': {
    meaning: 'The card number is not valid. Nothing was charged or stored.',
    steps: [['A digit is wrong or missing.', 'Ask the payer to type the number again.']],
    repeat: NOT_THE_SAME_CARD,
    where: `${DECLINED_WHERE} Also a response of POST /v1/cards.`,
  },
  'card.incorrect-cvv': {
    meaning: 'The security code of the card (three or four digits) is wrong. Nothing was charged.',
    steps: [['The CVV was mistyped.', 'Ask the payer to type it again: it is on the back of most cards.']],
    repeat: NOT_THE_SAME_CARD,
    where: DECLINED_WHERE,
  },
  'card.suspected-fraud': {
    meaning: 'The bank stopped the payment because it looked unusual. Nothing was charged.',
    steps: [['The bank suspects fraud.', 'Ask the payer to call the bank, or to use another card.']],
    repeat: 'No. Further attempts increase the suspicion.',
    where: DECLINED_WHERE,
  },
  'verification.failed': {
    meaning: 'The bank asked the payer to confirm the payment, and the confirmation failed. Nothing was charged.',
    steps: [['A wrong code, or "refuse" was pressed.', 'Let the payer pay again and confirm in the app of the bank.']],
    repeat: 'No. A new payment may succeed: the bank asks the payer once more.',
    where: DECLINED_WHERE,
  },
  'verification.abandoned': {
    meaning:
      'The bank asked the payer to confirm the payment, and the payer did not within 15 minutes. Nothing was charged.',
    steps: [['The payer closed the page of the bank.', 'Let the payer pay again and finish on the page of the bank.']],
    repeat: 'No. A new payment may succeed: the bank asks the payer once more.',
    where: DECLINED_WHERE,
  },
  'card.limit-exceeded': {
    meaning: 'The amount exceeds the limit of the card for one payment or one day. Nothing was charged.',
    steps: [['A limit of the card.', 'Ask the payer to raise the limit at the bank, or to use another card.']],
    repeat: 'Only after the limit was raised, or on another day, as a new payment.',
    where: DECLINED_WHERE,
  },
  'card.too-many-attempts': {
    meaning:
      'A limit against the testing of stolen cards refused the attempt. The bank was not asked, nothing was charged, and no payment was made.',
    steps: [
      ['Many payments were declined before.', 'Ask the payer to use another card, or to pay later.'],
      ['The payer was refused in error.', 'The operator of the platform can release the card.'],
    ],
    repeat: 'Only later, or with another card, as a new payment.',
    where: 'Hosted page, POST /v1/payments and POST /v1/cards. The response does not say which limit was met.',
  },
  'challenge.required': {
    meaning:
      'The site is under attack, and the pay request of the page has no valid solution of a challenge. No payment was made.',
    steps: [
      [
        'The solution has expired, or was used.',
        'The page solves another challenge and sends the payment again by itself.',
      ],
      ['A program sends the calls of the page.', 'Use the API for partners: it needs no challenge.'],
    ],
    repeat: 'Only with the solution of a new challenge. The page does this by itself.',
    where: 'Hosted page.',
  },
  'payable.closed': {
    meaning: 'The session was cancelled, or the invoice was closed or replaced. Nothing was charged.',
    steps: [
      ['The store cancelled the order.', 'Do not pay. Create a new session or invoice if the order is still valid.'],
      ['The till sent a new total.', 'Decode the code again, and pay the new invoice.'],
    ],
    repeat: 'No. It cannot be reopened.',
    where: PAYABLE_WHERE,
  },
  'payable.paid': {
    meaning:
      'This has been paid already: a session or invoice accepts one successful payment. Nothing was charged again.',
    steps: [
      [
        'A second tab, or another person who scanned the code.',
        'Show the payment that succeeded. Do not start another.',
      ],
      ['Your own retry after a lost response.', 'Look up the payment by its reference: it succeeded.'],
    ],
    repeat: 'No. It is paid.',
    where: PAYABLE_WHERE,
  },
  'payable.expired': {
    meaning: 'The time to pay is over: by default 30 minutes for a session and an hour for an invoice.',
    steps: [
      ['The payer came too late.', 'Create a new session with another `requestId`, or a new invoice.'],
      ['An old redirectUrl or QR code was used.', 'Create the session only when the payer is ready to pay.'],
    ],
    repeat: 'No. It cannot be renewed.',
    where: PAYABLE_WHERE,
  },
  'payable.refused': {
    meaning: 'Five payments have failed, so no more payments are accepted. Nothing was charged.',
    steps: [['Too many declined cards.', 'Create a new session with another `requestId`, or a new invoice.']],
    repeat: 'No. No more payments are accepted.',
    where: 'Hosted page and POST /v1/payments.',
  },
  'payable.not-found': {
    meaning: 'There is no session or invoice under this code or reference, or it belongs to the other mode.',
    steps: [
      ['A mistyped or shortened code.', 'Send the whole text of the QR code, as base64.'],
      [
        'It was created with a live key and read with a test key, or the reverse.',
        'Use keys of the same mode on both sides.',
      ],
      ['The static code of a till that has no open invoice.', 'Let the till send its total first.'],
    ],
    repeat: 'Only for the static code of a till, once it has an invoice.',
    where: 'GET /v1/codes/{code} and POST /v1/payments.',
  },
  'payable.mismatch': {
    meaning: 'The amount or the currency of the payment differs from the amount due. Nothing was charged.',
    steps: [
      ['The invoice changed after it was shown.', 'Decode the code again, and pay its present amount.'],
      ['The amount was chosen by the payer.', 'Send the amount of the invoice, unless `features.amount.editable`.'],
      [
        "An edited amount is below the merchant's minimum, or above its maximum. By default, the maximum is ten times the amount due, but at most R 50 000.",
        'Send an amount nearer to the amount due.',
      ],
      ['The tip is higher than the amount due.', 'Send a lower tip.'],
      ['Rands instead of cents.', 'Send whole cents: R 12.34 is 1234.'],
    ],
    repeat: 'No. Send the amount due, with a new `reference`.',
    where: 'Hosted page and POST /v1/payments.',
  },
  'payment.in-progress': {
    meaning:
      'Another payment of the same session, invoice or reference is waiting for the bank. Your payment was not started.',
    steps: [
      ['Another payer is paying at the moment.', 'Wait for the seconds in `Retry-After`, then check the state again.'],
      ['The same request was sent twice at the same time.', 'Wait for the first response.'],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where: 'Hosted page, POST /v1/payments, DELETE of a session, changing or closing an invoice.',
  },
  'payment.not-accepted': {
    meaning: 'The merchant does not accept payments of this form. Nothing was charged. `errors` names each field.',
    steps: [
      [
        'A tip, although the merchant accepts none.',
        'Send `tipAmount` only if the decoded code has `features.tip.enabled`.',
      ],
      ['An order reference is missing.', 'Send `orderReference` if the decoded code requires it.'],
      [
        'The stored card belongs to another bank than the one that charges for this merchant.',
        'Pay with the card data, or with another card.',
      ],
    ],
    repeat: 'No. Change the named fields.',
    where: 'Hosted page of an invoice and POST /v1/payments.',
  },
  'external.failed': {
    meaning: 'You reported an external payment as failed. It is recorded as failed.',
    steps: [['`paymentMethod.external.status` was a failure.', 'Pay again in another way, with a new `reference`.']],
    repeat: 'No. Report another payment with a new `reference`.',
    where: 'Recorded on a payment made by POST /v1/payments with `paymentMethod.external`.',
  },
  'refund.amount-exceeded': {
    meaning: 'All refunds of a payment together may not exceed the charged amount. Nothing was refunded.',
    steps: [
      [
        'Part of it was refunded before.',
        'List the refunds of the payment, including pending ones, and refund a smaller amount.',
      ],
      ['Rands instead of cents, or the reverse.', 'Send whole cents: R 12.34 is 1234.'],
    ],
    repeat: 'No. Send a smaller amount with a new `Idempotency-Key`.',
    where: 'POST /business/api/v1/merchants/{merchantId}/refunds.',
  },
  'refund.not-possible': {
    meaning: 'This payment did not charge a card here, so it cannot be refunded here.',
    steps: [
      ['The payment failed.', 'Nothing was charged: do nothing.'],
      ['It was paid with vouchers, or was an external payment.', 'Refund it where it was paid.'],
    ],
    repeat: 'No.',
    where: 'POST /business/api/v1/merchants/{merchantId}/refunds.',
  },
  'refund.in-progress': {
    meaning: 'A refund with the same key is in progress.',
    steps: [
      [
        'The same request was sent twice at the same time.',
        'Wait for the seconds in `Retry-After`, then send it again.',
      ],
    ],
    repeat: 'Yes, with the same `Idempotency-Key`: it returns the result of the first request.',
    where: 'POST /business/api/v1/merchants/{merchantId}/refunds.',
  },
  'acquirer.unavailable': {
    meaning: 'The bank could not be reached, so nothing was charged.',
    steps: [['The bank or the connection to it is down.', 'Let the payer try again in a few minutes.']],
    repeat: 'Yes, later. If a payment was recorded as failed with this error, use a new `reference`.',
    where: 'Hosted page, POST /v1/payments, POST /v1/cards.',
  },
  'acquirer.outcome-unknown': {
    meaning:
      'The bank did not report within 15 minutes whether it charged the card. The payment failed, and any charge is reversed automatically.',
    steps: [
      ['The bank failed during the payment.', 'Let the payer pay again.'],
      [
        'The payer sees a charge at the bank.',
        'It is reversed automatically: no refund is needed. Quote the payment reference to support.',
      ],
    ],
    repeat: 'No. Make a new payment with a new `reference`.',
    where: DECLINED_WHERE,
  },
  'live-mode.unavailable': {
    meaning: 'The key is a live key, and this platform has no bank for live payments. Nothing was charged.',
    steps: [
      ['You are still testing.', 'Use the key that begins with svc_test_.'],
      ['You want to go live.', 'Ask the operator of the platform when live payments begin.'],
    ],
    repeat: 'No.',
    where: 'POST /api/v3.1/sessions, POST /v1/payments, POST /v1/cards.',
  },
  'card-key.not-in-use': {
    meaning: 'The card was encrypted with a key that has been replaced. Nothing was charged.',
    steps: [
      ['The page was open for too long.', 'Reload the page and type the card again.'],
      ['A partner program cached the key.', 'Fetch the encryption key for each card, and encrypt again.'],
    ],
    repeat: 'No. Encrypt the card with the current key first.',
    where: 'Hosted page, POST /v1/payments, POST /v1/cards.',
  },
  'code.unsupported': {
    meaning: 'The code has an unknown format, and no provider recognises it.',
    steps: [
      ['Another QR code was scanned.', 'Scan the code of the till or of the bill.'],
      ['The code was encoded twice or not at all.', 'Send base64 of the text of the code, once.'],
    ],
    repeat: 'No.',
    where: 'GET /v1/codes/{code}.',
  },
  'code.third-party': {
    meaning: 'The code belongs to another provider: it can be decoded here, but not paid here.',
    steps: [['A code of another provider.', 'Pay it with the provider in `origin` of the decoded invoice.']],
    repeat: 'No.',
    where: 'POST /v1/payments.',
  },
  'code-provider.unavailable': {
    meaning: 'The code belongs to another provider, which did not respond in time.',
    steps: [['The other provider is slow or down.', 'Wait for the seconds in `Retry-After`, then decode again.']],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where: 'GET /v1/codes/{code}.',
  },
} as const satisfies Partial<Record<ErrorCode, ErrorHelp>>;
