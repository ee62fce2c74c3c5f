/** How a request for an invoice is recognised when a client repeats it (D6, C7). */
import { createHash } from 'node:crypto';
import type { CreateInvoiceRequest } from '@svc/contracts';
import { listBodyFields } from './invoice.js';

/** A repeat of a request that is older than this creates a new invoice. */
export const REQUEST_RETENTION_MS = 72 * 3_600_000;

/** One identity of a request: its Idempotency-Key, or its body. */
export interface RequestIdentity {
  /** `key:<Idempotency-Key>` or `body:<SHA-256>`. */
  readonly requestId: string;
  /**
   * SHA-256 of the request without its date. A repeat of an Idempotency-Key must have the same value. Do not confuse it
   * with `invoiceFingerprint` of an invoice, which includes the date.
   */
  readonly requestFingerprint: string;
}

/** The identities of a request. A request without a key and without an externalReference has none. */
export interface RequestIdentities {
  readonly key: RequestIdentity | undefined;
  readonly body: RequestIdentity | undefined;
}

/**
 * Identifies a request. The body includes `createdUTCDate`, because two equal sales may follow each other. The fields
 * of a request with an Idempotency-Key are compared without this date, because a client may set a new one in each repeat.
 */
export function identifyRequest(request: CreateInvoiceRequest, idempotencyKey: string | undefined): RequestIdentities {
  const externalReference = request.externalReference ?? null;
  const fields = [externalReference, ...listBodyFields(request)];
  const requestFingerprint = hash(fields);
  const body = hash([...fields, new Date(request.createdUTCDate).toISOString()]);
  return {
    key: idempotencyKey === undefined ? undefined : { requestId: `key:${idempotencyKey}`, requestFingerprint },
    body: externalReference === null ? undefined : { requestId: `body:${body}`, requestFingerprint },
  };
}

function hash(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
