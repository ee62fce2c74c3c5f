import { randomBytes } from 'node:crypto';
import { newPspReference } from '../interface/psp-reference.js';
import type { ChallengeRecord, PaymentOrder } from '../state/records.js';
import { cardData } from './payment-response.js';

/** Path of the 3D Secure page, with the challenge's token after it. Adyen's page has this path too. */
export const CHALLENGE_PATH = '/checkoutshopper/threeDS/redirect';

export function newChallenge(order: PaymentOrder, returnUrl: string, at: string): ChallengeRecord {
  return {
    kind: 'challenge',
    token: randomBytes(24).toString('base64url'),
    pspReference: newPspReference(),
    order,
    returnUrl,
    state: 'pending',
    at,
  };
}

/**
 * Adyen's PaymentResponse with a redirect (OpenAPI document of Checkout, example
 * `post-payments-card-3d-secure-redirect-200`). The payment's own PSP reference is in the response of
 * `/payments/details` (`PaymentResponse.pspReference`).
 */
export function redirectResponse({ order, pspReference, token }: ChallengeRecord, publicUrl: string): object {
  return {
    additionalData: {
      ...cardData(order.card),
      merchantReference: order.reference,
      'threeds2.cardEnrolled': 'true',
      'threeds2.threeDS2ResponseData.messageVersion': '2.1.0',
    },
    pspReference,
    resultCode: 'RedirectShopper',
    merchantReference: order.reference,
    amount: order.amount,
    action: {
      paymentMethodType: 'scheme',
      url: `${publicUrl}${CHALLENGE_PATH}/${token}`,
      method: 'GET',
      type: 'redirect',
    },
  };
}

/** The challenge after the payer's answer. Only the first answer counts. */
export function answerChallenge(challenge: ChallengeRecord, isPassed: boolean): ChallengeRecord {
  if (challenge.state !== 'pending') return challenge;
  return { ...challenge, state: isPassed ? 'passed' : 'failed', redirectResult: newRedirectResult() };
}

/**
 * The URL to which the payer returns: `returnUrl` with the URL-encoded `redirectResult` (documentation: "Handling
 * redirects").
 */
export function urlOfReturn({ returnUrl, redirectResult = '' }: ChallengeRecord): string {
  const [base = '', fragment] = returnUrl.split('#', 2);
  const separator = base.includes('?') ? '&' : '?';
  const result = `redirectResult=${encodeURIComponent(redirectResult).replaceAll('!', '%21')}`;
  return `${base}${separator}${result}${fragment === undefined ? '' : `#${fragment}`}`;
}

/**
 * Base64 after a prefix with an exclamation mark, as in Adyen's examples. It always contains characters that a URL
 * encodes, so that a caller that does not decode it fails.
 */
function newRedirectResult(): string {
  return `X6XtfGC3!${randomBytes(48).toString('base64')}+/A==`;
}
