import { readJson } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';
import type { Demo } from './seed.ts';

/** Addresses and credentials of the demo as shell variables. The guides in docs/ use these names. */
export function demoEnv(settings: Settings): string {
  const demo = readJson(pathsOf(settings).demo) as Demo | undefined;
  if (demo === undefined) throw new SvcError('there is no demo data yet', { hint: 'create it with ./svc up -d' });
  return Object.entries(demoVariables(demo))
    .map(([name, value]) => `export ${name}=${quoteForShell(value)}\n`)
    .join('');
}

function demoVariables(demo: Demo): Readonly<Record<string, string>> {
  const [merchant] = demo.merchants;
  const [site, keylessSite] = merchant?.sites ?? [];
  const [customer] = demo.customers;
  if (!merchant || !site || !keylessSite || !customer)
    throw new SvcError('the demo data is incomplete', { hint: 'complete it with ./svc up -d' });
  return {
    API_URL: demo.apiUrl,
    GATEWAY_URL: demo.gatewayUrl,
    CONSOLE_URL: demo.consoleUrl,
    DEMO_SHOP_URL: demo.shopUrl,
    TRANSFORMER_URL: demo.transformerUrl,
    TRANSFORMER_API_KEY: demo.transformerApiKey,
    MERCHANT_ID: String(merchant.merchantId),
    MERCHANT_API_KEY: merchant.apiKey,
    SITE_ID: String(site.siteId),
    SITE_API_KEY: site.apiKey,
    WEBHOOK_SECRET: site.webhookSecret,
    // The site that allows keyless requests.
    KEYLESS_SITE_ID: String(keylessSite.siteId),
    KEYLESS_SITE_API_KEY: keylessSite.apiKey,
    ORGANISATION_ID: demo.partner.organisationId,
    PARTNER_API_KEY: demo.partner.apiKey,
    PARTNER_API_TOKEN: demo.partner.apiToken,
    CUSTOMER_EMAIL: customer.email,
    CUSTOMER_PASSWORD: customer.password,
  };
}

/** For a POSIX shell: inside single quotes only the quote itself is special. */
function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
