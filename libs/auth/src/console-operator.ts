import { randomBytes, timingSafeEqual } from 'node:crypto';

/** An operator of the platform who sends a request of the administration API in the console. */
export interface ConsoleOperator {
  readonly personId: string;
  /** Otherwise only requests with GET are accepted. */
  readonly mayChange: boolean;
  /** `x-request-id` of the console's response. */
  readonly requestId: string;
}

const HEADER = 'x-console-operator';
/** A secret of this process. Only its own requests contain it, because it is in no configuration and in no message. */
const SECRET = randomBytes(32).toString('base64url');

/** The header with which a service sends itself a request of the console's operator. */
export function operatorHeaders({ personId, mayChange, requestId }: ConsoleOperator): Record<string, string> {
  return { [HEADER]: [SECRET, personId, mayChange ? 'change' : 'view', requestId].join(' ') };
}

/** The operator of a request that the service has sent itself. Undefined for each request from outside. */
export function readOperator(headers: Readonly<Record<string, unknown>>): ConsoleOperator | undefined {
  const header = headers[HEADER];
  const [secret = '', personId, right, requestId] = typeof header === 'string' ? header.split(' ') : [];
  const [given, expected] = [Buffer.from(secret), Buffer.from(SECRET)];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return { personId: personId!, mayChange: right === 'change', requestId: requestId! };
}
