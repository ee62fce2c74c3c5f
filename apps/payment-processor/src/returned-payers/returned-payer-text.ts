import type { PaymentState } from '@svc/contracts';
import type { PlainPage } from '@svc/service';

/**
 * Texts for payers who return from the bank, if the partner has not set a return page. The texts must be constants,
 * because the page does not escape them.
 */
export const RETURNED_PAYER_TEXT: Readonly<Record<PaymentState | 'unknown', PlainPage>> = {
  success: { heading: 'Your payment is complete', text: 'You can close this page and go back to your app.' },
  failed: {
    heading: 'Your payment was not completed',
    text: 'Nothing was charged. Go back to your app to try again.',
  },
  processing: {
    heading: 'Still checking with your bank',
    text: 'Do not pay again. Your app shows the outcome in a moment.',
  },
  verificationRequired: {
    heading: 'Still waiting for your bank',
    text: 'Do not pay again. Your app shows the outcome in a moment.',
  },
  unknown: { heading: 'There is nothing to see here', text: 'Go back to your app to see your payment.' },
};
