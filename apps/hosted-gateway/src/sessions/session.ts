import { createHash } from 'node:crypto';
import type {
  CreateSessionRequest,
  CustomField,
  HostedApiVersion,
  Mode,
  PayableDescriptor,
  PayableState,
  SessionState,
} from '@svc/contracts';
import { SESSION_TRIES_MAX } from './tries.js';

/** A session lives this long (H2). */
export const SESSION_LIFETIME_MS = 30 * 60_000;

/** How much longer, when its payer asks for more time: once. */
export const SESSION_EXTENSION_MS = 15 * 60_000;
/** In the last minutes: from then on the page warns, and more time can be asked for. */
export const SESSION_ENDING_MS = 5 * 60_000;

export interface Session {
  readonly sessionId: string;
  /** The 20 digits of its code (D5); null for one made before sessions had codes. */
  readonly code: string | null;
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
  /** BCP 47, for the payment page; null where the merchant named none, or before sessions had one. */
  readonly locale: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Its payer has asked for more time. */
  readonly extended: boolean;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  /** Payments begun so far. */
  readonly tries: number;
  /** Trace in which the merchant made the session (C8). */
  readonly traceparent: string | null;
}

/** The session in the words of H2. Only an open one expires: a payment that is processing is waited for. */
export function sessionState(session: Pick<Session, 'payableState' | 'expiresAt'>, now: Date): SessionState {
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

/** Where the merchant sends the payer (H1). @param gatewayUrl the gateway's own, without a slash at its end */
export function redirectUrlOf({ sessionId }: Pick<Session, 'sessionId'>, gatewayUrl: string): string {
  return `${gatewayUrl}/pay?sessionId=${sessionId}`;
}

/** The debt of a session, as payment-processor is told of it. */
export function payableOf(session: Session): PayableDescriptor {
  return {
    payableId: session.sessionId,
    mode: session.mode,
    merchantId: session.merchantId,
    siteId: session.siteId,
    amount: session.amount,
    currencyISOCode: session.currencyISOCode,
    expiresAt: session.expiresAt.toISOString(),
    triesMax: SESSION_TRIES_MAX,
    source: {
      kind: 'session',
      sessionId: session.sessionId,
      apiVersion: session.apiVersion,
      merchantOrderId: session.merchantOrderId,
      notificationUrl: session.notificationUrl,
      ...(session.code === null ? {} : { code: session.code }),
    },
  };
}

/**
 * Tells whether a repeated requestId came with the same request (C7). Fields the specification does not name do not count, the
 * locale for example: a replica of an earlier release ignores it, and would refuse the repeat.
 */
export function fingerprintOf(request: CreateSessionRequest): string {
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
