import { readJson } from '../base/files.ts';
import type { Demo } from './seed.ts';
import { pathsOf, type Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';

/** Addresses and credentials of the demo for a shell: `eval "$(./svc demo env)"`. The guides of docs/ use these names. */
export function demoEnv(settings: Settings): string {
  const demo = readJson(pathsOf(settings).demo) as Demo | undefined;
  if (demo === undefined) throw new SvcError('there is no demo yet', { hint: './svc up -d makes it' });
  return Object.entries(variablesOf(demo))
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');
}

export function variablesOf(demo: Demo): Readonly<Record<string, string>> {
  const [merchant] = demo.merchants;
  const [site, keyless] = merchant?.sites ?? [];
  const [customer] = demo.customers;
  if (!merchant || !site || !keyless || !customer)
    throw new SvcError('the demo is not complete', { hint: './svc up -d' });
  return {
    API_URL: demo.apiUrl,
    GATEWAY_URL: demo.gatewayUrl,
    SHOP_URL: demo.shopUrl,
    TRANSFORMER_URL: demo.transformerUrl,
    TRANSFORMER_API_KEY: demo.transformerApiKey,
    MERCHANT_ID: String(merchant.merchantId),
    MERCHANT_API_KEY: merchant.apiKey,
    SITE_ID: String(site.siteId),
    SITE_API_KEY: site.apiKey,
    WEBHOOK_SECRET: site.webhookSecret,
    // Of the site that needs no key for the calls with the two documented headers.
    KEYLESS_SITE_ID: String(keyless.siteId),
    KEYLESS_SITE_API_KEY: keyless.apiKey,
    ORGANISATION_ID: demo.partner.organisationId,
    PARTNER_API_KEY: demo.partner.apiKey,
    PARTNER_API_TOKEN: demo.partner.apiToken,
    CUSTOMER_EMAIL: customer.email,
    CUSTOMER_PASSWORD: customer.password,
  };
}

/** For a POSIX shell: nothing inside single quotes means anything, but the quote itself. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
