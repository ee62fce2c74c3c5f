/**
 * Every word of the payment page, for the server's views and the browser's script. A sentence about a failure says
 * whether money moved and what to do next; it never blames the payer and never promises what is not known.
 */
import { SESSION_TRIES_MAX } from '../sessions/tries.js';

/** Another number needs another word: without it this does not compile. */
const tries: Record<typeof SESSION_TRIES_MAX, string> = { 5: 'Five tries' };

export const page = {
  yourOrder: 'Your order',
  order: 'Order',
  moreDetails: 'More details',
  backToStore: 'Back to store',
  payTitle: (amount: string, merchant: string) => `Pay ${amount} to ${merchant}`,
  stateTitle: (heading: string, merchant: string) => `${heading} · ${merchant}`,
  footer: 'Your card details are encrypted in this browser before they are sent.',
  footerPlain: 'Secure payments by Svc Payments',
  givenBack: 'A charge that came too late was given back to your card. You do not have to do anything.',
  noScript:
    'Paying by card needs JavaScript, because your card details are encrypted in this browser before they are sent. ' +
    'Please switch JavaScript on and reload the page, or go back to the store. Nothing has been charged.',
} as const;

export const form = {
  heading: 'Pay by card',
  cardNumber: 'Card number',
  cardNumberPlaceholder: '1234 1234 1234 1234',
  expiry: 'Expiry date',
  expiryPlaceholder: 'MM / YY',
  cvv: 'CVV',
  cvvHint: '3 digits on the back',
  cvvHintFour: '4 digits on the front',
  holderName: 'Name on card',
  pay: 'Pay',
  triesLeft: (left: number) => (left === 1 ? 'This is the last try.' : `${left} of ${SESSION_TRIES_MAX} tries left.`),
  errorCode: (errorReference: string) => `Code ${errorReference}`,
} as const;

/** Beside the form: for a payer who would rather use a phone. */
export const byCode = {
  heading: 'Or scan to pay',
  fold: 'Pay with another device',
  alternative: 'QR code that opens this payment on a phone',
  note: 'Scan the code with the camera of your phone, or with a payment app that takes our codes.',
  goesOn: 'This page goes on by itself when it is paid.',
} as const;

/** Beside a field, after the payer left it or pressed Pay. */
export const fieldErrors = {
  cardNumberMissing: 'Enter the card number.',
  cardNumberWrong: 'This card number is not correct. Check the digits.',
  expiryMissing: 'Enter the expiry date as MM / YY.',
  expiryMonth: 'The month must be 01 to 12.',
  expiryPast: 'This card has expired. Use another card.',
  expiryFar: 'Check the year.',
  cvvMissing: 'Enter the CVV.',
  cvvWrong: (digits: number) => `The CVV of this card has ${digits} digits.`,
  cvvWrongEither: 'The CVV has 3 or 4 digits.',
  holderNameMissing: 'Enter the name on the card.',
  holderNameLong: (max: number) => `Use at most ${max} characters.`,
} as const;

/** Above the form, when the payment could not be started. */
export const formErrors = {
  refused: 'The payment was not accepted. Check your details and try again.',
  tooMany: 'Too many requests at the moment. Nothing was charged. Wait a minute and try again.',
  notSent: 'We could not send your payment. Check your connection and press Pay again: you will not be charged twice.',
  insecure: 'This page was opened over an insecure connection, so cards cannot be paid with here.',
  cannotEncrypt: 'Your card details could not be encrypted. Nothing was sent. Reload the page and try again.',
} as const;

export const processing = {
  heading: 'Confirming with your bank…',
  note: 'This takes a few seconds. Please keep this page open.',
  lateHeading: 'This is taking longer than usual',
  stillChecking: 'Still checking with your bank. Do not pay again.',
  lateNote: 'This page shows the outcome as soon as it is known. You can close it and come back later.',
  noScript: 'This page checks again every few seconds.',
} as const;

export const verification = {
  heading: 'Confirm the payment with your bank',
  note: 'Your bank wants to make sure that it is you. Nothing is charged before you have confirmed.',
  goOn: 'Continue to your bank',
  anotherCard: 'Use another card',
  until: 'You can confirm until',
} as const;

export const paid = {
  heading: 'Payment successful',
  alreadyHeading: 'This order is already paid',
  alreadyNote: 'There is nothing left to pay.',
  amount: 'Amount',
  paidTo: 'Paid to',
  reference: 'Payment reference',
  date: 'Date',
  returnTo: (merchant: string) => `Return to ${merchant}`,
  returning: 'You will be taken back in a few seconds.',
  scanned: 'The page of the shop goes on by itself. You can close this one.',
} as const;

export const closed = {
  refused: {
    heading: 'This payment cannot be tried again',
    note: `${tries[SESSION_TRIES_MAX]} did not succeed. Nothing was charged. Go back to the store to choose another way to pay.`,
  },
  expired: {
    heading: 'This payment page has expired',
    note: 'Nothing was charged. Go back to the store and start the payment again.',
  },
  cancelled: {
    heading: 'This payment was cancelled',
    note: 'Nothing was charged. Go back to the store if you still want to pay.',
  },
  'not-found': {
    heading: 'This payment page does not exist',
    note: 'The address is incomplete or no longer valid. Go back to the store and start the payment again.',
  },
} as const;

/** A camera opened what is meant for a payment app. */
export const atTill = {
  heading: 'Scan this code with a payment app',
  of: 'To be paid to',
  note: 'The code belongs to a till. Open your payment app and scan it there. Nothing can be paid on this page.',
} as const;

/** Somebody scanned a code that nothing is known of. */
export const unknownCode = {
  heading: 'This code cannot be paid here',
  note: 'It is incomplete or no longer valid. At a till, scan it with a payment app; otherwise go back to where it was shown.',
} as const;

/** By errorReference (P4): what happened, and what to do next. Fraud is not named: the payer may be its victim. */
const declines: Readonly<Record<string, { title: string; next: string }>> = {
  '10': {
    title: 'Your bank declined the payment',
    next: 'Nothing was charged. Use another card, or ask your bank and try again.',
  },
  '11': {
    title: 'There is not enough money on this card',
    next: 'Nothing was charged. Use another card, or add money and try again.',
  },
  '12': {
    title: 'This card has expired',
    next: 'Nothing was charged. Check the expiry date, or use another card.',
  },
  '13': {
    title: 'This card was not accepted',
    next: 'Nothing was charged. Check the card number, or use another card.',
  },
  '14': {
    title: 'The CVV is not correct',
    next: 'Nothing was charged. Check the security code printed on your card and try again.',
  },
  '15': {
    title: 'Your bank stopped the payment',
    next: 'Nothing was charged. Call the number on the back of your card, or use another card.',
  },
  '16': {
    title: 'Your bank could not verify you',
    next: 'Nothing was charged. Try again, or use another card.',
  },
  '17': {
    title: 'The verification was not finished',
    next: 'Nothing was charged. Try again and confirm the payment with your bank.',
  },
  '18': {
    title: "The amount is over your card's limit",
    next: 'Nothing was charged. Raise the limit with your bank, or use another card.',
  },
  '20': {
    title: 'This was paid or closed in the meantime',
    next: 'Nothing more was charged. Go back to the store to see your order.',
  },
  '22': {
    title: 'The amount of the order has changed',
    next: 'Nothing was charged. Check the amount shown here and pay again.',
  },
  '23': {
    title: 'Another payment for this order was in progress',
    next: 'Check the amount and try again. You will not be charged twice.',
  },
  '30': {
    title: 'Your bank could not be reached',
    next: 'Nothing was charged. Wait a moment and try again, or use another card.',
  },
  '31': {
    title: 'Your bank did not confirm the payment',
    next: 'If your bank shows the amount, it is given back. Try again, or use another card.',
  },
};

export function declineText(decline: { errorReference: string; message: string } | undefined): {
  title: string;
  next: string;
} {
  const known = decline && Object.hasOwn(declines, decline.errorReference) && declines[decline.errorReference];
  if (known) return known;
  return { title: 'The payment did not go through', next: decline?.message || 'Try again, or use another card.' };
}
