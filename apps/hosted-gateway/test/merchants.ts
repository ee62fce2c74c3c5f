import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import { ApiKeyChangedV1, type Mode, SiteChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { anEvent, type TestService } from '@svc/testing';

/** One site of a merchant in one mode, and its keys. */
export interface Merchant {
  readonly merchantId: number;
  readonly siteId: number;
  readonly siteKey: string;
  readonly merchantKey: string;
  /** The headers that a merchant's server sends, with the key of the site. */
  readonly headers: Record<string, string>;
}

export interface SiteOptions {
  readonly requireApiKey?: boolean;
  readonly allowedHosts?: string[];
  /** Mode of the keys. */
  readonly mode?: Mode;
  /** An existing merchant or site; otherwise a new one. */
  readonly merchantId?: number;
  readonly siteId?: number;
  readonly merchantName?: string;
  readonly challengePayers?: boolean;
}

let nextId = 1001;

/** Delivers the events that identity publishes for a site, its two API keys, and one webhook secret for each mode. */
export async function createMerchant(test: TestService, options: SiteOptions): Promise<Merchant> {
  const { merchantId = nextId++, siteId = nextId++, merchantName = 'Karoo Books', mode = 'test' } = options;
  const { requireApiKey = true, allowedHosts = [], challengePayers = false } = options;
  const [siteKey, merchantKey] = [newApiKey('site', mode), newApiKey('merchant', mode)];
  const site = {
    merchantId,
    siteId,
    merchantName,
    siteReference: 'web',
    name: 'Web shop',
    requireApiKey,
    allowedHosts,
    keylessMode: 'test' as const,
    webhookEnabled: false,
    challengePayers,
  };
  const key = { merchantId, mode, revoked: false };
  const [siteKeyId, merchantKeyId] = [randomUUID(), randomUUID()];
  const webhookSecrets = (['test', 'live'] as const).map((secretMode) => {
    const secretId = randomUUID();
    return anEvent(WebhookSecretChangedV1, secretId, 1, {
      secretId,
      mode: secretMode,
      merchantId,
      siteId,
      revoked: false,
    });
  });
  await test.deliver(
    anEvent(SiteChangedV1, String(siteId), 1, site),
    ...webhookSecrets,
    anEvent(ApiKeyChangedV1, siteKeyId, 1, {
      ...key,
      keyId: siteKeyId,
      kind: 'site',
      siteId,
      hash: hashApiKey(siteKey),
    }),
    anEvent(ApiKeyChangedV1, merchantKeyId, 1, {
      ...key,
      keyId: merchantKeyId,
      kind: 'merchant',
      hash: hashApiKey(merchantKey),
    }),
  );
  const headers = { merchantid: String(merchantId), merchantsiteid: String(siteId), 'x-api-key': siteKey };
  return { merchantId, siteId, siteKey, merchantKey, headers };
}

/**
 * Callers that differ from the owner of a row in one property. If a query ignores a property, one of these callers
 * finds the row.
 */
export const OTHER_CALLERS = [
  'the same site in live mode',
  'another site of the same merchant',
  'another merchant',
  'another merchant whose site has the same siteId',
] as const;
export type OtherCaller = (typeof OTHER_CALLERS)[number];

/** Creates these callers. @param owner must be in test mode */
export async function createOtherCallers(
  owner: Merchant,
  createCaller: (site: SiteOptions) => Promise<Merchant>,
): Promise<Readonly<Record<OtherCaller, Merchant>>> {
  const { merchantId, siteId } = owner;
  return {
    'the same site in live mode': await createCaller({ merchantId, siteId, mode: 'live' }),
    'another site of the same merchant': await createCaller({ merchantId }),
    'another merchant': await createCaller({}),
    'another merchant whose site has the same siteId': await createCaller({ siteId }),
  };
}
