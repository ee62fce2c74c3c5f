import { createHash } from 'node:crypto';
import type {
  CreateSessionRequest,
  CustomField,
  HostedApiVersion,
  HostedPayableDescriptor,
  Mode,
  PayableState,
  SessionState,
} from '@svc/contracts';
import type { Basket } from '../baskets/basket.js';
import { MAX_SESSION_PAYMENTS } from './max-session-payments.js';

/** Lifetime of a session (H2). */
export const SESSION_LIFETIME_MS = 30 * 60_000;

/** A payer can extend the expiry of a session once, by this time. */
export const SESSION_EXTENSION_MS = 15 * 60_000;
/** During this time before the expiry, the page shows a warning and the payer can extend the session. */
export const SESSION_WARNING_MS = 5 * 60_000;

export interface Session {
  readonly sessionId: string;
  /** The 20 digits of the session's code (D5). */
  readonly code: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  readonly merchantName: string;
  readonly apiVersion: HostedApiVersion;
  readonly requestId: string;
  readonly merchantOrderId: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly notificationUrl: string;
  readonly returnUrl: string;
  readonly cancelUrl: string;
  readonly origin: string;
  readonly siteName: string | null;
  readonly customFields: readonly CustomField[];
  /** Null if the merchant sent no line items, or line items that break a rule (H9). */
  readonly basket: Basket | null;
  /** BCP 47 language of the payment page. Null if the merchant sent none. */
  readonly locale: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** True if the payer has extended the session. */
  readonly extended: boolean;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  /** Number of payments started so far. */
  readonly paymentCount: number;
  /** Trace of the request that created the session (C8). */
  readonly traceparent: string | null;
}

/**
 * The state of the session (H2). Only an open session expires: a payment in progress is allowed to finish.
 */
export function determineSessionState(session: Pick<Session, 'payableState' | 'expiresAt'>, now: Date): SessionState {
  switch (session.payableState) {
    case 'open':
      return now < session.expiresAt ? 'open' : 'expired';
    case 'reserved':
      return 'processing';
    case 'paid':
      return 'completed';
    case 'refused':
      return 'refused';
    case 'closed':
      return 'cancelled';
  }
}

/**
 * The address to which the merchant redirects the payer (H1).
 *
 * @param gatewayUrl base URL of the gateway, without a trailing slash
 */
export function buildRedirectUrl({ sessionId }: Pick<Session, 'sessionId'>, gatewayUrl: string): string {
  return `${gatewayUrl}/pay?sessionId=${sessionId}`;
}

/** The payable of a session, for commands and events to payment-processor. */
export function describePayable(session: Session): HostedPayableDescriptor {
  return {
    payableId: session.sessionId,
    mode: session.mode,
    merchantId: session.merchantId,
    siteId: session.siteId,
    amount: session.amount,
    currencyISOCode: session.currencyISOCode,
    expiresAt: session.expiresAt.toISOString(),
    maxPayments: MAX_SESSION_PAYMENTS,
    source: {
      kind: 'session',
      sessionId: session.sessionId,
      apiVersion: session.apiVersion,
      merchantOrderId: session.merchantOrderId,
      notificationUrl: session.notificationUrl,
      code: session.code,
    },
  };
}

/**
 * Equal for a request and its retry with the same content (C7). Does not contain the locale, because a retry may have
 * another locale (H7): the locale is only a presentation of the same order. Does not contain the basket either (H9):
 * a shop may have sent its line items while the gateway ignored them, and may number or order them differently in a
 * retry, which must stay a retry. What the payer is charged is in the fingerprint: the amount.
 */
export function computeFingerprint(request: CreateSessionRequest): string {
  const fields = [
    request.merchantOrderId,
    request.amount,
    request.currencyISOCode,
    request.notificationUrl,
    request.returnUrl,
    request.cancelUrl,
    request.origin,
    request.siteName ?? null,
    (request.customFields ?? []).map(({ key, value }) => [key, value]),
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
