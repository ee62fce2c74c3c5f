/** A merchant's server that creates sessions with the SDK. */
import { randomUUID } from 'node:crypto';
import { type CreatedSession, type CreateSessionRequest, HostedGatewayClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { connectForDemo, createMerchant } from '../../tools/svc/demo/seed.ts';
import type { MerchantSite, Platform } from '../platform/platform.js';
import { waitUntilAccepted } from './accepted-credentials.js';
import { callTillApi } from './till.js';

/**
 * Creates a merchant with one site that requires its key, and waits until every service knows it. On a shared platform,
 * only the calling test uses it.
 */
export async function onboardMerchant(platform: Platform, name: string): Promise<MerchantSite> {
  const [site] = await onboardSites(platform, name, ['Online']);
  return site!;
}

/** As {@link onboardMerchant}, with a site of each name. */
export async function onboardSites(
  platform: Platform,
  name: string,
  siteNames: readonly string[],
): Promise<MerchantSite[]> {
  const { adminUrl, adminKey } = platform.demo;
  const sites = siteNames.map((siteName) => ({
    name: `${name} ${siteName}`,
    siteReference: siteName.toUpperCase(),
    requireApiKey: true,
    allowedHosts: [],
  }));
  const merchant = await createMerchant(connectForDemo(adminUrl, adminKey), { name, sites });
  const onboarded = merchant.sites.map((site) => ({ ...site, merchant }));
  for (const site of onboarded) await waitUntilKnown(platform, site);
  return onboarded;
}

async function waitUntilKnown(platform: Platform, site: MerchantSite): Promise<void> {
  await waitUntil('the gateway to accept the key', 10_000, () => gatewayClient(platform, site).listNotifications());
  const get = (path: string) => callTillApi(platform, 'GET', path, 'application/json', undefined, site);
  await waitUntilAccepted({
    'code-decoder': () => get(`/invoices/${randomUUID()}`),
    'merchant-retrieval': () => get('/payments?externalReference=x'),
    'payment-processor': () => requestEmptyRefund(platform, site.merchant),
  });
}

/** The body is invalid, so the answer to a known merchant is 400. */
function requestEmptyRefund(platform: Platform, { merchantId, apiKey }: MerchantSite['merchant']): Promise<Response> {
  return fetch(`${platform.demo.apiUrl}/business/api/v1/merchants/${merchantId}/refunds`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
}

/** The SDK's client with the credentials of a site, by default of the first demo site. */
export function gatewayClient(platform: Platform, site = platform.site(0, 0)): HostedGatewayClient {
  return new HostedGatewayClient({
    gatewayUrl: platform.demo.gatewayUrl,
    merchantId: site.merchant.merchantId,
    siteId: site.siteId,
    apiKey: site.apiKey,
  });
}

export function newSessionRequest(
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

/** Creates sessions with different amounts, so that a sum shows which sessions it contains. */
export function createSessions(
  client: HostedGatewayClient,
  count: number,
  notificationUrl: string,
): Promise<CreatedSession[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.createSession(newSessionRequest(notificationUrl, { amount: 10_000 + 2 ** (index % 20) + index })),
    ),
  );
}
