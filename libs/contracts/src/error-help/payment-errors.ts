import type { ErrorCode } from '../errors.js';
import type { ErrorHelp } from './error-help.js';

const DECLINED_WHERE =
  'Recorded on a failed payment: the hosted page, its webhook (`userMessage`), and `errors` of POST and GET /v1/payments.';
const NOT_THE_SAME_CARD =
  'No. The same card data gets the same answer. A new payment with other card data may succeed.';
const PAYABLE_WHERE = 'Hosted page, POST /v1/payments, GET /v1/codes/{code} and GET of an invoice.';

/** Errors of cards, banks, payables, payments and refunds. */
export const PAYMENT_ERROR_HELP = {
  'card.declined': {
    meaning: 'The bank that issued the card said no and gave no reason. Nothing was charged.',
    steps: [
      ['The bank does not allow this payment.', 'Ask the payer to use another card, or to call the bank.'],
      ['A test with card 4000 0000 0000 0002.', 'Use 4242 4242 4242 4242 for an approval.'],
    ],
    repeat: NOT_THE_SAME_CARD,
    where: DECLINED_WHERE,
  },
  'card.insufficient-funds': {
    meaning: 'The account of the card does not hold this amount. Nothing was charged.',
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
    meaning: 'There is no card with this number. Nothing was charged or stored.',
    steps: [['A digit is wrong or missing.', 'Ask the payer to type the number again.']],
    repeat: NOT_THE_SAME_CARD,
    where: `${DECLINED_WHERE} Also the answer of POST /v1/cards.`,
  },
  'card.incorrect-cvv': {
    meaning: 'The three or four digits on the card are not the right ones. Nothing was charged.',
    steps: [['The CVV was mistyped.', 'Ask the payer to type it again: it is on the back of most cards.']],
    repeat: NOT_THE_SAME_CARD,
    where: DECLINED_WHERE,
  },
  'card.suspected-fraud': {
    meaning: 'The bank stopped the payment because it looked unusual. Nothing was charged.',
    steps: [['The bank protects the owner of the card.', 'Ask the payer to call the bank, or to use another card.']],
    repeat: 'No. More tries make the bank more careful.',
    where: DECLINED_WHERE,
  },
  'verification.failed': {
    meaning: 'The bank asked the payer for a proof, and it was refused. Nothing was charged.',
    steps: [['A wrong code, or "refuse" was pressed.', 'Let the payer pay again and confirm in the app of the bank.']],
    repeat: 'No. A new payment may succeed: the bank asks the payer once more.',
    where: DECLINED_WHERE,
  },
  'verification.abandoned': {
    meaning: 'The bank asked the payer for a proof and got none within 15 minutes. Nothing was charged.',
    steps: [['The payer closed the page of the bank.', 'Let the payer pay again and finish on the page of the bank.']],
    repeat: 'No. A new payment may succeed: the bank asks the payer once more.',
    where: DECLINED_WHERE,
  },
  'card.limit-exceeded': {
    meaning: 'The amount is over what the card may pay at once or in a day. Nothing was charged.',
    steps: [['A limit of the card.', 'Ask the payer to raise the limit at the bank, or to use another card.']],
    repeat: 'Only after the limit was raised, or on another day, as a new payment.',
    where: DECLINED_WHERE,
  },
  'payable.closed': {
    meaning: 'The session was cancelled, or the invoice was closed or replaced. Nothing was charged.',
    steps: [
      ['The store cancelled the order.', 'Do not pay. Make a new session or invoice if the order stands.'],
      ['The till sent a new total.', 'Decode the code again, and pay the invoice that it names now.'],
    ],
    repeat: 'No. What is closed stays closed.',
    where: PAYABLE_WHERE,
  },
  'payable.paid': {
    meaning:
      'Somebody has paid this already: one session or invoice takes one successful payment. Nothing was charged again.',
    steps: [
      [
        'A second tab, or another person who scanned the code.',
        'Show the payment that succeeded, and ask for no other.',
      ],
      ['A retry of your own after a lost answer.', 'Look the payment up by its reference: it succeeded.'],
    ],
    repeat: 'No. It is paid.',
    where: PAYABLE_WHERE,
  },
  'payable.expired': {
    meaning: 'The time to pay is over: 30 minutes for a session, an hour for an invoice unless it says otherwise.',
    steps: [
      ['The payer came too late.', 'Make a new session with another `requestId`, or a new invoice.'],
      ['An old redirectUrl or QR code was kept.', 'Make the session when the payer is ready to pay, not before.'],
    ],
    repeat: 'No. What has expired stays expired.',
    where: PAYABLE_WHERE,
  },
  'payable.refused': {
    meaning: 'Five payments have failed, so this takes no more. Nothing was charged.',
    steps: [['Too many declined cards.', 'Make a new session with another `requestId`, or a new invoice.']],
    repeat: 'No. It takes no more payments.',
    where: 'Hosted page and POST /v1/payments.',
  },
  'payable.not-found': {
    meaning: 'There is no session or invoice under this code or reference, or it belongs to the other mode.',
    steps: [
      ['A mistyped or shortened code.', 'Send the whole text of the QR code, as base64.'],
      ['A test key with something made by a live key, or the reverse.', 'Use keys of one mode for both sides.'],
      ['The static code of a till that has no open invoice.', 'Let the till send its total first.'],
    ],
    repeat: 'Only for the static code of a till, once it has an invoice.',
    where: 'GET /v1/codes/{code} and POST /v1/payments.',
  },
  'payable.mismatch': {
    meaning: 'The amount or the currency of the payment differs from what is owed. Nothing was charged.',
    steps: [
      ['The invoice changed after it was shown.', 'Decode the code again, and pay the amount that it has now.'],
      ['The amount was chosen by the payer.', 'Send the amount of the invoice, unless `features.amount.editable`.'],
      ['Rands where cents belong.', 'Send whole cents: R 12.34 is 1234.'],
    ],
    repeat: 'No. Send the amount that is owed, under a new `reference`.',
    where: 'Hosted page and POST /v1/payments.',
  },
  'payment.in-progress': {
    meaning: 'Another payment of the same session, invoice or reference waits for the bank. Yours was not begun.',
    steps: [
      ['Somebody else is paying at the moment.', 'Wait as long as `Retry-After` says, then look again.'],
      ['The same request is sent twice at once.', 'Wait for the first answer.'],
    ],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where: 'Hosted page, POST /v1/payments, DELETE of a session, changing or closing an invoice.',
  },
  'payment.not-accepted': {
    meaning: 'The merchant does not take payments of this form. Nothing was charged. `errors` names each field.',
    steps: [
      ['A tip where tips are off.', 'Send `tipAmount` only if the decoded code has `features.tip.enabled`.'],
      ['An order reference is missing.', 'Send `orderReference` if the decoded code requires it.'],
    ],
    repeat: 'No. Change the named fields.',
    where: 'Hosted page of an invoice and POST /v1/payments.',
  },
  'external.failed': {
    meaning: 'You reported a payment made elsewhere, and said that it failed. It is recorded as failed.',
    steps: [['`paymentMethod.external.status` was a failure.', 'Pay again in another way, under a new `reference`.']],
    repeat: 'No. Report another payment under a new `reference`.',
    where: 'Recorded on a payment made by POST /v1/payments with `paymentMethod.external`.',
  },
  'refund.amount-exceeded': {
    meaning: 'The refunds of a payment together may not be more than what was charged. Nothing was given back.',
    steps: [
      [
        'Part of it was given back before.',
        'List the refunds of the payment, pending ones included, and ask for less.',
      ],
      ['Rands where cents belong, or the reverse.', 'Send whole cents: R 12.34 is 1234.'],
    ],
    repeat: 'No. Ask for a smaller amount under a new `Idempotency-Key`.',
    where: 'POST /business/api/v1/merchants/{merchantId}/refunds.',
  },
  'refund.not-possible': {
    meaning: 'This payment charged no card here, so there is nothing to give back.',
    steps: [
      ['The payment failed.', 'Nothing was charged: do nothing.'],
      ['It was paid with vouchers or elsewhere.', 'Give it back where it was paid.'],
    ],
    repeat: 'No.',
    where: 'POST /business/api/v1/merchants/{merchantId}/refunds.',
  },
  'refund.in-progress': {
    meaning: 'A refund with the same key is being made at this moment.',
    steps: [['The same request is sent twice at once.', 'Wait as long as `Retry-After` says, then send it again.']],
    repeat: 'Yes, with the same `Idempotency-Key`: it gives the outcome of the first.',
    where: 'POST /business/api/v1/merchants/{merchantId}/refunds.',
  },
  'acquirer.unavailable': {
    meaning: 'The bank could not be reached, so nothing was charged.',
    steps: [['The bank or the way to it is down.', 'Let the payer try again in a few minutes.']],
    repeat: 'Yes, later. A payment that was recorded as failed with this needs a new `reference`.',
    where: 'Hosted page, POST /v1/payments, POST /v1/cards.',
  },
  'acquirer.outcome-unknown': {
    meaning:
      'The bank did not say within 15 minutes whether it charged. The payment is failed, and a charge, if there was one, is given back by itself.',
    steps: [
      ['The bank broke down in the middle of the payment.', 'Let the payer pay again.'],
      [
        'The payer sees a charge at the bank.',
        'It is given back: no refund is needed. Quote the payment reference to support.',
      ],
    ],
    repeat: 'No. Make a new payment under a new `reference`.',
    where: DECLINED_WHERE,
  },
  'live-mode.unavailable': {
    meaning: 'The key is a live one, and this platform has no bank for live payments. Nothing was charged.',
    steps: [
      ['You are still testing.', 'Use the key that begins with svc_test_.'],
      ['You want to go live.', 'Ask the operator of the platform when live payments begin.'],
    ],
    repeat: 'No.',
    where: 'POST /api/v3.1/sessions, POST /v1/payments, POST /v1/cards.',
  },
  'card-key.not-in-use': {
    meaning: 'The card was encrypted to a key that has been replaced. Nothing was charged.',
    steps: [
      ['A page that was open for very long.', 'Reload the page and type the card again.'],
      ['A partner program that keeps the key.', 'Fetch the encryption key for each card, and encrypt anew.'],
    ],
    repeat: 'No. Encrypt the card again to the present key first.',
    where: 'Hosted page, POST /v1/payments, POST /v1/cards.',
  },
  'code.unsupported': {
    meaning: 'The text is of none of the forms that codes have, and no provider knows it.',
    steps: [
      ['Some other QR code was scanned.', 'Scan the code of the till or of the bill.'],
      ['The code was encoded twice or not at all.', 'Send base64 of the text of the code, once.'],
    ],
    repeat: 'No.',
    where: 'GET /v1/codes/{code}.',
  },
  'code.third-party': {
    meaning: 'The code is of another provider: it can be read here, but not paid here.',
    steps: [['A code of another provider.', 'Pay it with the provider that `origin` of the decoded invoice names.']],
    repeat: 'No.',
    where: 'POST /v1/payments.',
  },
  'code-provider.unavailable': {
    meaning: 'The code is of another provider, which did not answer in time.',
    steps: [['The other provider is slow or down.', 'Wait as long as `Retry-After` says, then decode again.']],
    repeat: 'Yes, after the seconds in `Retry-After`.',
    where: 'GET /v1/codes/{code}.',
  },
} as const satisfies Partial<Record<ErrorCode, ErrorHelp>>;
