/**
 * All texts of the payment page in English, for the views on the server and the script in the browser. The other
 * languages have the same keys (af.ts, zu.ts, xh.ts, st.ts). `{name}` is a placeholder. A translation keeps the name of
 * a placeholder, but may put it at another place. A count in a placeholder is never 1, so no message needs a singular
 * form.
 *
 * A text about a failure explains whether money moved and what the payer can do next. It never blames the payer, and it
 * never promises a result that is not known yet.
 */
export const en = {
  /** Name of the language, in the language itself. */
  name: 'English',

  format: {
    /** The format of prices in South African shops: `R 1 234.56`. */
    decimalMark: '.',
    dateTime: '{day} {month} {year} at {time}',
    months: [
      'January',
      'February',
      'March',
      'April',
      'May',
      'June',
      'July',
      'August',
      'September',
      'October',
      'November',
      'December',
    ],
  },

  language: {
    label: 'Language',
    /** Confirmation before the page is loaded in another language while the form is not empty. */
    confirmLanguageChange: 'The page is loaded again in the other language, and the card form will be empty. Go on?',
  },

  page: {
    yourOrder: 'Your order',
    order: 'Order',
    moreDetails: 'More details',
    backToStore: 'Back to store',
    payTitle: 'Pay {amount} to {merchant}',
    /** Title of a page without the form. */
    stateTitle: '{heading} · {merchant}',
    footer: 'Your card details are encrypted in this browser before they are sent.',
    test: 'TEST: no money moves',
    footerPlain: 'Secure payments by Svc Payments',
    chargeReversed: 'A charge that came too late was given back to your card. You do not have to do anything.',
    noScript:
      'Paying by card needs JavaScript, because your card details are encrypted in this browser before they are sent. ' +
      'Please switch JavaScript on and reload the page, or go back to the store. Nothing has been charged.',
  },

  form: {
    heading: 'Pay by card',
    cardNumber: 'Card number',
    cardNumberPlaceholder: '1234 1234 1234 1234',
    expiry: 'Expiry date',
    expiryPlaceholder: 'MM / YY',
    cvv: 'CVV',
    cvvHintEither: '3 digits on the back, or 4 on the front',
    cvvHint: '3 digits on the back',
    cvvHintFour: '4 digits on the front',
    holderName: 'Name on card',
    /** Text of the button, before the amount. */
    pay: 'Pay',
    lastPayment: 'This is the last try.',
    paymentsLeft: '{left} of {payments} tries left.',
    /** Shown in the last minutes of a session. */
    expiring:
      'You can pay here until {time}. After that nothing is charged, and you can start the payment again in the store.',
    moreTime: 'Give me 15 more minutes',
    /** Shown before the link `reload` and a full stop. */
    stillLoading: 'The form is still loading. If nothing happens,',
    reload: 'load the page again',
  },

  /** Texts beside the QR code, for a payer who prefers to pay with a phone. */
  byCode: {
    heading: 'Or scan to pay',
    summary: 'Pay with another device',
    imageDescription: 'QR code that opens this payment on a phone',
    note: 'Scan the code with the camera of your phone, or with a payment app that takes our codes.',
    continuesAutomatically: 'This page goes on by itself when it is paid.',
  },

  /** Labels of the fields in which the payer of an invoice may choose amount and tip. */
  choice: {
    amount: 'Amount to pay',
    tip: 'Tip (optional)',
  },

  /** Errors beside the fields for amount and tip. `{least}` and `{most}` are amounts. */
  choiceErrors: {
    notAnAmount: 'Enter an amount such as 12.50.',
    tooLittle: 'The least that can be paid is {least}.',
    tooMuch: 'The most that can be paid here is {most}.',
  },

  /** Errors beside a field of the card form, after the payer left the field or pressed Pay. */
  fieldErrors: {
    cardNumberMissing: 'Enter the card number.',
    cardNumberWrong: 'This card number is not correct. Check the digits.',
    expiryMissing: 'Enter the expiry date as MM / YY.',
    expiryMonth: 'The month must be 01 to 12.',
    expiryPast: 'This card has expired. Use another card.',
    expiryFar: 'Check the year.',
    cvvMissing: 'Enter the CVV.',
    cvvWrong: 'The CVV of this card has {digits} digits.',
    cvvWrongEither: 'The CVV has 3 or 4 digits.',
    holderNameMissing: 'Enter the name on the card.',
    holderNameLong: 'Use at most {max} characters.',
  },

  /** Errors above the form, when the payment could not be started. */
  formErrors: {
    otherPayerFailed: 'Somebody tried to pay this on another device, and it did not go through. You can go on here.',
    refused: 'The payment was not accepted. Check your details and try again.',
    tooMany: 'Too many requests at the moment. Nothing was charged. Wait a minute and try again.',
    notSent:
      'We could not send your payment. Check your connection and press Pay again: you will not be charged twice.',
    insecure: 'This page was opened over an insecure connection, so cards cannot be paid with here.',
    cannotEncrypt: 'Your card details could not be encrypted. Nothing was sent. Reload the page and try again.',
  },

  /**
   * Errors above the form, when the server rejects the pay request, by error code. For other codes, the page shows the
   * text of the error catalogue in English, and `formErrors.refused` in other languages.
   */
  refusals: {
    'card-key.not-in-use': 'This page is out of date. Reload it and try again. Nothing was charged.',
    'live-mode.unavailable': 'Cards cannot be paid with here yet. Nothing was charged.',
    'payable.mismatch': 'The amount of the order has changed. Reload the page and check it. Nothing was charged.',
  },

  processing: {
    sendingHeading: 'Sending your payment…',
    offlineHeading: 'You are offline',
    offlineNote:
      'Your payment was not sent yet, and nothing was charged. Keep this page open: it goes on by itself when you are online again.',
    heading: 'Confirming with your bank…',
    note: 'This takes a few seconds. Please keep this page open.',
    lateHeading: 'This is taking longer than usual',
    stillChecking: 'Still checking with your bank. Do not pay again.',
    lateNote: 'This page shows the outcome as soon as it is known. You can close it and come back later.',
    noScript: 'This page checks again every few seconds.',
  },

  verification: {
    heading: 'Confirm the payment with your bank',
    note: 'Your bank wants to make sure that it is you. Nothing is charged before you have confirmed.',
    continueToBank: 'Continue to your bank',
    anotherCard: 'Use another card',
    /** Shown before date and time. */
    until: 'You can confirm until',
  },

  paid: {
    heading: 'Payment successful',
    alreadyHeading: 'This order is already paid',
    alreadyNote: 'There is nothing left to pay.',
    amount: 'Amount',
    card: 'Card',
    reference: 'Payment reference',
    date: 'Date',
    /** The next step of the payer, on the receipt. */
    next: 'The store is told of your payment. If you have a question about your order, ask the store and give the payment reference.',
    returnTo: 'Return to {merchant}',
    returning: 'You will be taken back in a few seconds.',
    stay: 'Stay on this page',
    scanned: 'The page of the shop goes on by itself. You can close this one.',
    atTill: 'The till knows it too. You can close this page.',
  },

  closed: {
    refused: {
      heading: 'This payment cannot be tried again',
      note: '{payments} tries did not succeed. Nothing was charged. Go back to the store to choose another way to pay.',
    },
    expired: {
      heading: 'This payment page has expired',
      note: 'Nothing was charged. Go back to the store and start the payment again.',
    },
    cancelled: {
      heading: 'This payment was cancelled',
      note: 'Nothing was charged. Go back to the store if you still want to pay.',
    },
  },

  /**
   * The texts of `closed` for the invoice of a till: there is no store to return to, and the cashier can create a new
   * invoice.
   */
  closedAtTill: {
    refused: {
      heading: 'This payment cannot be tried again here',
      note: 'Too many cards were declined. Nothing was charged. Ask at the till how else you can pay.',
    },
    paused: {
      heading: 'This code is closed for some minutes',
      note: 'Too many cards were declined here. Nothing was charged. Scan the code that the till shows for this sale, pay with a payment app, or try again in ten minutes.',
    },
    expired: {
      heading: 'This code has expired',
      note: 'Nothing was charged. Ask at the till for a new code.',
    },
    cancelled: {
      heading: 'This code is no longer used',
      note: 'Nothing was charged. The till has changed or closed this sale: scan the code that it shows now.',
    },
  },

  notFound: {
    heading: 'This payment page does not exist',
    note: 'The address is incomplete or no longer valid. Go back to the store and start the payment again.',
  },

  /** Shown while the service is unavailable, so that the state of the session is unknown. */
  unavailable: {
    heading: 'This page is not available at the moment',
    note: 'If you have pressed Pay already, do not pay again: nothing is lost, and the outcome will be shown here.',
    again: 'This page tries again by itself every few seconds. You can also close it and come back later.',
  },

  /** Shown for the static code of a till that has no open invoice. */
  atTill: {
    heading: 'This till has nothing to pay yet',
    note: 'Wait until the cashier is done, then pay here.',
    again: 'This page looks again by itself.',
  },

  /** Shown to a payer who scanned an unknown code. */
  unknownCode: {
    heading: 'This code cannot be paid here',
    note: 'It is incomplete or no longer valid. At a till, scan it with a payment app; otherwise go back to where it was shown.',
  },

  /**
   * The reason of a decline and the next step, by errorReference (P4). The texts do not mention fraud, because the
   * payer may be its victim.
   */
  declines: {
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
  },
  /** Shown for a reason that has no text in `declines`. */
  unknownDecline: {
    title: 'The payment did not go through',
    next: 'Try again, or use another card.',
  },
};

/** All texts of a language. */
export type Messages = typeof en;
