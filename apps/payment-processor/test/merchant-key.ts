import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import { ApiKeyChangedV1, type Mode } from '@svc/contracts';
import { anEvent, type HttpAnswer, httpClient } from '@svc/testing';
import type { Processor } from './processor.js';

export interface KeyOwner {
  readonly merchantId: number;
  /** A site's key; otherwise the merchant's. */
  readonly siteId?: number;
  readonly mode?: Mode;
}

/** A merchant's back office, or a site's, that refunds. */
export interface RefundClient {
  readonly keyId: string;
  readonly apiKey: string;
  /** `POST …/refunds?svcId=` of 100 cents under a key of its own, unless told otherwise. */
  refund(svcId: string, body?: object, idempotencyKey?: string, merchantId?: number): Promise<HttpAnswer>;
  list(svcId: string): Promise<HttpAnswer>;
}

/** A key as identity has told the processor of it. */
export async function aRefundClient(processor: Processor, owner: KeyOwner): Promise<RefundClient> {
  const { merchantId, siteId, mode = 'test' } = owner;
  const kind = siteId === undefined ? 'merchant' : 'site';
  const [keyId, apiKey] = [randomUUID(), newApiKey(kind, mode)];
  const site = siteId === undefined ? {} : { siteId };
  const hash = hashApiKey(apiKey);
  await processor.deliver(
    anEvent(ApiKeyChangedV1, keyId, 1, { keyId, kind, mode, merchantId, ...site, hash, revoked: false }),
  );
  const pathOf = (svcId: string, merchant = merchantId): string =>
    `/business/api/v1/merchants/${merchant}/refunds?svcId=${encodeURIComponent(svcId)}`;
  return {
    keyId,
    apiKey,
    refund: (svcId, body = { amount: 100 }, idempotencyKey = randomUUID(), merchant = merchantId) =>
      httpClient(processor.service, { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey })(
        'POST',
        pathOf(svcId, merchant),
        body,
      ),
    list: (svcId) => httpClient(processor.service, { 'x-api-key': apiKey })('GET', pathOf(svcId)),
  };
}
