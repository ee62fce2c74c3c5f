/** A merchant's server that makes sessions, over the SDK. */
import { randomUUID } from 'node:crypto';
import { type CreatedSession, type CreateSessionRequest, HostedGatewayClient } from '@svc/sdk';
import type { Platform } from './platform.js';

export function clientOf(platform: Platform, merchantIndex = 0, siteIndex = 0): HostedGatewayClient {
  const site = platform.site(merchantIndex, siteIndex);
  return new HostedGatewayClient({
    gatewayUrl: platform.demo.gatewayUrl,
    merchantId: site.merchant.merchantId,
    siteId: site.siteId,
    apiKey: site.apiKey,
  });
}

export function aSessionRequest(
  notificationUrl: string,
  changes: Partial<CreateSessionRequest> = {},
): CreateSessionRequest {
  return {
    requestId: randomUUID(),
    merchantOrderId: `ORDER-${randomUUID().slice(0, 8)}`,
    amount: 12_345,
    currencyISOCode: 'ZAR',
    notificationUrl,
    returnUrl: 'http://127.0.0.1:9/return',
    cancelUrl: 'http://127.0.0.1:9/cancel',
    origin: '127.0.0.1',
    ...changes,
  };
}

/** Sessions whose amounts all differ, so that sums tell them apart. */
export function createSessions(
  client: HostedGatewayClient,
  count: number,
  notificationUrl: string,
): Promise<CreatedSession[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.createSession(aSessionRequest(notificationUrl, { amount: 10_000 + 2 ** (index % 20) + index })),
    ),
  );
}
