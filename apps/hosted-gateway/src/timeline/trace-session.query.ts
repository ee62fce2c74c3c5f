import type { HostedApiVersion, Mode, PayableState, TracedPayable, TracePayable } from '@svc/contracts';
import { describeStep, findTraceId, isUuid } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import { determineSessionState } from '../sessions/session.js';

interface SessionRow {
  readonly sessionId: string;
  readonly code: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  readonly apiVersion: HostedApiVersion;
  readonly requestId: string;
  readonly merchantOrderId: string;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly extended: boolean;
  readonly payableState: PayableState;
  readonly paymentCount: number;
  readonly traceparent: string | null;
}

const SELECT = `
  SELECT session_id AS "sessionId", code, mode, merchant_id AS "merchantId", site_id AS "siteId", api_version AS "apiVersion",
         request_id AS "requestId", merchant_order_id AS "merchantOrderId", amount, currency AS "currencyISOCode",
         created_at AS "createdAt", expires_at AS "expiresAt", extended, payable_state AS "payableState",
         payment_count AS "paymentCount", traceparent
    FROM sessions`;
const FIND_BY_ID = `${SELECT} WHERE session_id = $1`;
const FIND_BY_CODE = `${SELECT} WHERE code = $1`;

/** The session of any merchant with this id or code, for operators. */
export async function traceSession(
  dataSource: Pick<DataSource, 'query'>,
  now: Date,
  { payableId, code }: TracePayable,
): Promise<TracedPayable | undefined> {
  const isById = isUuid(payableId);
  if (!isById && code === undefined) return undefined;
  const [session] = await dataSource.query<SessionRow[]>(isById ? FIND_BY_ID : FIND_BY_CODE, [
    isById ? payableId : code,
  ]);
  return session && describeSession(session, now);
}

function describeSession(session: SessionRow, now: Date): TracedPayable {
  const { sessionId, code, mode, merchantId, siteId, amount, currencyISOCode } = session;
  const { createdAt, expiresAt, merchantOrderId, paymentCount, requestId, traceparent } = session;
  const state = determineSessionState(session, now);
  const created = describeStep(
    createdAt,
    'session created',
    {
      order: merchantOrderId,
      session: sessionId,
      code,
      'API version': session.apiVersion,
      payments: paymentCount,
      state,
    },
    { amount, requestId, traceId: findTraceId(traceparent) },
  );
  const extended = session.extended ? { extended: 'once, by the payer' } : {};
  return {
    subject: {
      ...{ kind: 'session', reference: sessionId, utcDate: createdAt.toISOString(), mode, merchantId, siteId },
      ...{
        amount,
        currencyISOCode,
        state,
        orderReference: merchantOrderId,
        payableId: sessionId,
        source: 'session',
        code,
      },
    },
    steps: [created, ...(state === 'expired' ? [describeStep(expiresAt, 'session expired', extended)] : [])],
  };
}
