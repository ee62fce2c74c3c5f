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
    confirmLanguageChange:
      'The page loads again in the other language, and you must enter your card details again. Continue?',
  },

  page: {
    yourOrder: 'Your order',
    order: 'Order',
    moreDetails: 'More details',
    /** Number of lines in the basket, before its total. */
    items: '{count} items',
    total: 'Total',
    shipping: 'Delivery',
    /** Value-added tax that is added to the prices of the lines. */
    tax: 'VAT',
    taxIncluded: 'VAT included',
    backToStore: 'Back to store',
    payTitle: 'Pay {amount} to {merchant}',
    /** Title of a page without the form. */
    stateTitle: '{heading} · {merchant}',
    footer: 'Your card details are encrypted in this browser before they are sent.',
    test: 'TEST: no money moves',
    footerPlain: 'Secure payments by Svc Payments',
    chargeReversed: 'A payment was completed too late and was refunded to your card. You do not have to do anything.',
    noScript:
      'Paying by card needs JavaScript, because your card details are encrypted in this browser before they are sent. ' +
      'Please switch JavaScript on and reload the page, or go back to the store. Nothing has been charged.',
  },

  form: {
    heading: 'Pay by card',
    /** Read by screen readers before the names of the card schemes. */
    acceptedCards: 'Accepted cards',
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
    lastPayment: 'This is your last attempt.',
    paymentsLeft: 'You have {left} of {payments} attempts left.',
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
    heading: 'Pay with another device',
    summary: 'Pay with another device',
    imageDescription: 'QR code that opens this payment on a phone',
    note: 'Scan this code with the camera of the other device, or with a payment app that supports this code.',
    continuesAutomatically: 'This page shows the receipt when the payment is complete.',
  },

  /** Labels of the fields in which the payer of an invoice may choose amount and tip. */
  choice: {
    amount: 'Amount to pay',
    tip: 'Tip (optional)',
  },

  /** Errors beside the fields for amount and tip. `{least}` and `{most}` are amounts. */
  choiceErrors: {
    notAnAmount: 'Enter an amount such as 12.50.',
    tooLittle: 'You can pay {least} or more.',
    tooMuch: 'You can pay at most {most} here.',
  },

  /** Errors beside a field of the card form, after the payer left the field or pressed Pay. */
  fieldErrors: {
    cardNumberMissing: 'Enter the card number.',
    cardNumberWrong: 'This card number is not correct. Check the digits.',
    expiryMissing: 'Enter the expiry date as MM / YY.',
    expiryMonth: 'The month must be 01 to 12.',
    expiryPast: 'This card has expired. Check the expiry date, or use another card.',
    expiryFar: 'Check the year.',
    cvvMissing: 'Enter the CVV.',
    cvvWrong: 'The CVV of this card has {digits} digits.',
    cvvWrongEither: 'The CVV has 3 or 4 digits.',
    holderNameMissing: 'Enter the name on the card.',
    holderNameLong: 'Use at most {max} characters.',
  },

  /** Errors above the form, when the payment could not be started. */
  formErrors: {
    otherPayerFailed: 'A payment on another device did not succeed. You can pay here.',
    refused: 'The payment was not accepted. Check your details and try again.',
    tooMany:
      'Many payments are being made from your network now. Nothing was charged. Wait a moment and press Pay again.',
    notSent:
      'We could not send your payment. Check your connection and press Pay again: you will not be charged twice.',
    insecure: 'This page was opened over an insecure connection, so you cannot pay by card here.',
    cannotEncrypt: 'Your card details could not be encrypted. Nothing was sent. Reload the page and try again.',
    challengeFailed: 'The security check on your device took too long. Nothing was charged. Press Pay again.',
  },

  /**
   * Errors above the form, when the server rejects the pay request, by error code. For other codes, the page shows the
   * text of the error catalogue in English, and `formErrors.refused` in other languages.
   */
  refusals: {
    'card-key.not-in-use': 'This page is out of date. Reload it and try again. Nothing was charged.',
    'live-mode.unavailable': 'You cannot pay by card here yet. Nothing was charged.',
    'card.too-many-attempts':
      'This card cannot be used here at the moment. Use another card, or try again later. Nothing was charged.',
    'payable.mismatch': 'The amount of the order has changed. Reload the page and check it. Nothing was charged.',
  },

  /** Shown while the browser solves a challenge, before the form or after the payer pressed Pay. */
  challenge: {
    heading: 'One moment, please',
    note: 'Your device runs a short security check that protects cards from misuse. You do not have to do anything. The form appears when the check is complete.',
    /** Announced by screen readers. */
    progress: '{percent} % done.',
    /** Announced by screen readers when the form appears. */
    done: 'Done. You can pay now.',
  },

  processing: {
    sendingHeading: 'Sending your payment…',
    /** Shown until the page sends the payment again, because too many payments of the payer's network are in flight. */
    busyHeading: 'Many payments are being made from your network now',
    offlineHeading: 'You are offline',
    offlineNote:
      'Your payment was not sent yet, and nothing was charged. Keep this page open: it sends the payment when you are online again.',
    heading: 'Confirming with your bank…',
    note: 'This takes a few seconds. Please keep this page open.',
    lateHeading: 'This is taking longer than usual',
    stillChecking: 'Still checking with your bank. Do not pay again.',
    lateNote:
      'This page shows the result as soon as your bank confirms it. You can close it: the payment continues without this page.',
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
    next: 'We confirm your payment to the store. If you have a question about your order, contact the store and give the payment reference.',
    returnTo: 'Return to {merchant}',
    returning: 'You will return to the store soon.',
    stay: 'Stay on this page',
    print: 'Print or save the receipt',
    scanned: 'The other device shows the payment too. You can close this page.',
    atTill: 'The till receives the confirmation too. You can close this page.',
    requested: 'The sender of the request receives the confirmation too. You can close this page.',
  },

  closed: {
    refused: {
      heading: 'This payment cannot be tried again',
      note: '{payments} attempts did not succeed. Nothing was charged. Go back to the store to choose another way to pay.',
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

  /** The texts of `closed` for a payment request: a person of the merchant sent its link. */
  closedRequest: {
    refused: {
      heading: 'This payment cannot be tried again',
      note: 'Too many cards were declined. Nothing was charged. Ask the sender of the request how else you can pay.',
    },
    expired: {
      heading: 'This payment request has expired',
      note: 'Nothing was charged. Ask the sender for a new link.',
    },
    cancelled: {
      heading: 'This payment request was cancelled',
      note: 'Nothing was charged. Ask the sender of the request if you have a question.',
    },
  },

  notFound: {
    heading: 'This payment page does not exist',
    note: 'The address is incomplete or no longer valid. Go back to the store and start the payment again.',
  },

  /** Shown while the service is unavailable, so that the state of the session is unknown. */
  unavailable: {
    heading: 'This page is not available at the moment',
    note: 'If you have already pressed Pay, do not pay again: your payment is not lost, and this page will show the result.',
    again: 'This page tries again every few seconds. You can also close it and come back later.',
  },

  /** Shown for the static code of a till that has no open invoice. */
  atTill: {
    heading: 'Nothing to pay at this till yet',
    note: 'Wait until the cashier is done, then pay here.',
    again: 'This page checks again every few seconds.',
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
      next: 'Nothing was charged. Check the CVV on your card or in the app of your bank, and try again.',
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
      next: 'If your bank shows the amount, you will get it back. Try again, or use another card.',
    },
  },
  /** Shown for a reason that has no text in `declines`. */
  unknownDecline: {
    title: 'The payment did not go through',
    next: 'Try again, or use another card.',
  },

  /** The merchant's contact below the page and in e-mailed receipts. Links follow after the colon. */
  merchantContact: {
    questions: 'Questions? Contact {merchant}:',
    helpPage: 'Help page',
    terms: 'Terms and conditions',
  },

  /** The form on the receipt, and the e-mail. */
  receiptMail: {
    summary: 'Send the receipt by e-mail',
    address: 'E-mail address',
    send: 'Send the receipt',
    note: 'The address is used for this e-mail only, and is not stored.',
    sent: 'The receipt was sent. It may take a few minutes to arrive.',
    failed: 'The receipt could not be sent. Your payment is not affected. Try again.',
    limited: 'No more receipts can be sent for this payment or to this address today. Your payment is not affected.',
    invalid: 'The receipt was not sent, because this e-mail address is not correct. Check it and try again.',
    subject: 'Receipt from {merchant}: {amount}',
    heading: 'Your payment to {merchant}',
    reason:
      'You get this e-mail because this address was typed on the payment page. If you did not do this, you can delete it.',
    reasonMerchant:
      'You get this e-mail because {merchant} sent you the receipt. If you did not pay there, you can delete it.',
  },
};

/** All texts of a language. */
export type Messages = typeof en;
