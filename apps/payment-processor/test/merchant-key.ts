import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import { ApiKeyChangedV1, type Mode } from '@svc/contracts';
import { anEvent, httpClient, type HttpResponse } from '@svc/testing';
import type { Processor } from './processor.js';

export interface KeyOwner {
  readonly merchantId: number;
  /** For a site's key; undefined for the merchant's key. */
  readonly siteId?: number;
  readonly mode?: Mode;
}

/** Client of a merchant's or site's back office, with its own API key. */
export interface RefundClient {
  readonly keyId: string;
  readonly apiKey: string;
  /** `POST …/refunds?svcId=`, by default 100 cents with a new idempotency key. */
  refund(svcId: string, body?: object | string, idempotencyKey?: string, merchantId?: number): Promise<HttpResponse>;
  list(svcId: string): Promise<HttpResponse>;
}

/** Creates an API key, publishes its event as the service identity does, and returns a client with this key. */
export async function createRefundClient(processor: Processor, owner: KeyOwner): Promise<RefundClient> {
  const { merchantId, siteId, mode = 'test' } = owner;
  const kind = siteId === undefined ? 'merchant' : 'site';
  const [keyId, apiKey] = [randomUUID(), newApiKey(kind, mode)];
  const site = siteId === undefined ? {} : { siteId };
  const hash = hashApiKey(apiKey);
  await processor.deliver(
    anEvent(ApiKeyChangedV1, keyId, 1, { keyId, kind, mode, merchantId, ...site, hash, revoked: false }),
  );
  const refundsPath = (svcId: string, merchant = merchantId): string =>
    `/business/api/v1/merchants/${merchant}/refunds?svcId=${encodeURIComponent(svcId)}`;
  return {
    keyId,
    apiKey,
    refund: (svcId, body = { amount: 100 }, idempotencyKey = randomUUID(), merchant = merchantId) =>
      httpClient(processor.service, { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey })(
        'POST',
        refundsPath(svcId, merchant),
        body,
      ),
    list: (svcId) => httpClient(processor.service, { 'x-api-key': apiKey })('GET', refundsPath(svcId)),
  };
}
