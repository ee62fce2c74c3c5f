import { type Administration, readList } from '../administration-api/administration.ts';
import { command, merchantPath, parseMerchantId, parseNumber, pickMode, request, usageError } from './command.ts';
import { keyCommands } from './keys/key-commands.ts';

interface Grant {
  readonly organisationId: string;
  readonly vouchers: boolean;
  readonly externalPayments: boolean;
}

interface Merchant {
  readonly fees: Record<string, unknown>;
  readonly features: Record<string, Record<string, unknown>>;
  readonly grants: readonly Grant[];
}

const getMerchant = async (api: Administration, merchantId: string): Promise<Merchant> =>
  (await api.call('GET', merchantPath(merchantId))) as Merchant;

const pickName = ({ name }: { readonly name: string }) => ({ name });

/** Partners, merchants, their sites and settings; API keys and secrets; the platform's own keys. */
export const onBoardingCommands = [
  request('organisations create <name>', 'creates a partner (organisation)', 'POST /organisations', pickName),
  // The first page begins after the lowest UUID.
  command('organisations list', 'lists all partners', (api) =>
    readList(api, 'organisations', '00000000-0000-0000-0000-000000000000'),
  ),
  request('organisations rename <organisationId> <name>', 'renames a partner', 'PATCH {organisationId}', pickName),
  request(
    'api-tokens create <organisationId> [--live]',
    "creates an API token, shown once: the partner's server logs in with it",
    'POST {organisationId}/api-tokens',
    pickMode,
  ),
  request(
    'api-tokens list <organisationId>',
    'lists the API tokens of a partner, newest first',
    'GET {organisationId}/api-tokens#apiTokens',
  ),
  request(
    'api-tokens revoke <organisationId> <tokenId>',
    'revokes an API token: no login is possible with it',
    'DELETE {organisationId}/api-tokens/{tokenId}',
  ),
  request(
    'merchants create <name> [--time-zone=…]',
    'creates a merchant; --time-zone: of its days, default Africa/Johannesburg',
    'POST /merchants',
    ({ name, 'time-zone': timeZone }) => ({ name, ...(timeZone === undefined ? {} : { timeZone }) }),
  ),
  command('merchants list', 'lists all merchants with their number of sites', (api) => readList(api, 'merchants', 0)),
  request('merchants show <merchantId>', 'shows a merchant with its sites', 'GET {merchantId}'),
  request('merchants rename <merchantId> <name>', 'sets the name that payers see', 'PATCH {merchantId}', pickName),
  request(
    'merchants time-zone <merchantId> <zone>',
    'sets the time zone of its days, e.g. Africa/Nairobi: it begins at the next local midnight',
    'PATCH {merchantId}',
    ({ zone }) => ({ timeZone: zone }),
  ),
  request(
    'merchants minimum <merchantId> <cents>',
    'sets the minimum for an edited amount, in cents (with amount.editable); default 100',
    'PATCH {merchantId}',
    ({ cents }) => ({ minimumAmount: parseNumber(cents, 12, 'cents') }),
  ),
  request(
    'merchants maximum <merchantId> <cents>',
    'sets the maximum for an edited amount, in cents; "default": ten times the invoice, at most R 50 000',
    'PATCH {merchantId}',
    ({ cents }) => ({ maximumAmount: cents === 'default' ? null : parseNumber(cents, 12, 'cents') }),
  ),
  command(
    'merchants fee <merchantId> <basisPoints> <cents> [--live]',
    'sets the fee for each new card payment: 290 150 is 2.9 % and R 1.50; 0 0 is no fee',
    async (api, { merchantId, basisPoints, cents, ...input }) => {
      const unit = 'basis points or cents';
      const terms = { basisPoints: parseNumber(basisPoints, 6, unit), fixedAmount: parseNumber(cents, 6, unit) };
      const { fees } = await getMerchant(api, merchantId);
      return api.call('PATCH', merchantPath(merchantId), { fees: { ...fees, [pickMode(input).mode]: terms } });
    },
  ),
  command(
    'features set <merchantId> <feature=value…>',
    'sets features, e.g. tip.enabled=true orderReference.label=Table',
    async (api, { merchantId, 'feature=value': assignments }) => {
      const { features } = await getMerchant(api, merchantId);
      return api.call('PATCH', merchantPath(merchantId), { features: assignments.reduce(withFeature, features) });
    },
  ),
  request('features clear <merchantId>', 'removes all features', 'PATCH {merchantId}', () => ({ features: {} })),
  command(
    'grants allow <merchantId> <organisationId> <vouchers|externalPayments>',
    'grants a partner to report vouchers or external payments of this merchant',
    (api, input) => changeGrant(api, input, true),
  ),
  command('grants deny <merchantId> <organisationId> <vouchers|externalPayments>', 'removes a grant', (api, input) =>
    changeGrant(api, input, false),
  ),
  request('grants list <merchantId>', 'lists the grants of a merchant', 'GET {merchantId}#grants'),
  request(
    'sites create <merchantId> <name> <siteReference> [--keyless] [--hosts=…] [--live]',
    'creates a site with its webhook secrets; --keyless needs --hosts a.example,b.example',
    'POST {merchantId}/sites',
    ({ name, siteReference, keyless, hosts, ...input }) => ({
      name,
      siteReference,
      requireApiKey: keyless !== true,
      allowedHosts: hosts?.split(',') ?? [],
      keylessMode: pickMode(input).mode,
    }),
  ),
  request('sites rename <site> <name>', 'sets the name that payers see', 'PATCH {site}', pickName),
  request(
    'sites webhook <site> <url|on|off>',
    'sends webhooks of final payments and refunds to this URL; off disables them and keeps the URL, on enables them again',
    'PATCH {site}',
    ({ 'url|on|off': setting }) => ({
      ...(setting === 'on' || setting === 'off' ? {} : { webhookUrl: setting }),
      webhookEnabled: setting !== 'off',
    }),
  ),
  request(
    'sites challenge <site> <always|attacks>',
    'lets payers solve a challenge before every payment, or only while stolen cards are tested at the site',
    'PATCH {site}',
    ({ 'always|attacks': setting }) => ({ challengePayers: setting === 'always' }),
  ),
  request(
    'merchant-accounts set <merchantId> <accountReference> [--acquirer=…] [--live]',
    "sets the merchant's account at the acquirer, for new charges",
    'POST /merchant-accounts',
    ({ merchantId, accountReference, acquirer, ...input }) => ({
      merchantId: parseMerchantId(merchantId),
      ...pickMode(input),
      accountReference,
      ...(acquirer === undefined ? {} : { acquirer }),
    }),
  ),
  request(
    'merchant-accounts list',
    "lists all settings, newest first; a merchant without a setting uses the acquirer's default account",
    'GET /merchant-accounts#merchantAccounts',
  ),
  ...keyCommands,
  request(
    'webhook-secrets create <site> [--live]',
    'creates an additional webhook secret, shown once',
    'POST {site}/webhook-secrets',
    pickMode,
  ),
  request(
    'webhook-secrets list <site>',
    'lists the webhook secrets of a site, newest first',
    'GET {site}/webhook-secrets#secrets',
  ),
  request(
    'webhook-secrets revoke <site> <secretId>',
    'revokes a webhook secret: it signs no further webhook',
    'DELETE {site}/webhook-secrets/{secretId}',
  ),
  request('token-keys list', 'lists the public keys of identity tokens', 'GET /token-keys#tokenKeys'),
  request('token-keys rotate', 'rotates the signing key now; the new key signs in ten minutes', 'POST /token-keys'),
  request(
    'token-keys withdraw <kid>',
    'withdraws a leaked signing key: its tokens are no longer accepted',
    'DELETE /token-keys/{kid}',
  ),
  request('card-keys list', 'lists the encryption keys for card data, newest first', 'GET /card-keys#cardKeys'),
  request(
    'card-keys rotate',
    'rotates the card key now; the older key is accepted for another 24 hours',
    'POST /card-keys',
  ),
  request(
    'audit-log read [--after=…]',
    'lists the changes by administrators, oldest first, 100 at a time',
    'GET /audit-log?after={after}#entries',
  ),
];

const FEATURES = new Set([
  'amount.editable',
  'orderReference.label',
  'orderReference.editable',
  'orderReference.required',
  'tip.enabled',
]);

/** Adds one assignment, such as `tip.enabled=true`; the API validates the value. */
function withFeature(features: Merchant['features'], assignment: string): Merchant['features'] {
  const [, feature, setting, text] = /^([A-Za-z]+)\.([A-Za-z]+)=(.*)$/.exec(assignment) ?? [];
  if (feature === undefined || setting === undefined)
    throw usageError(`"${assignment}" is not feature.member=value, for example tip.enabled=true`);
  if (!FEATURES.has(`${feature}.${setting}`))
    throw usageError(`there is no feature "${feature}.${setting}": ${[...FEATURES].join(', ')}`);
  const value = text === 'true' ? true : text === 'false' ? false : text;
  return { ...features, [feature]: { ...features[feature], [setting]: value } };
}

async function changeGrant(
  api: Administration,
  { merchantId, ...input }: Readonly<Record<'merchantId' | 'organisationId' | 'vouchers|externalPayments', string>>,
  isAllowed: boolean,
): Promise<unknown> {
  const organisationId = input.organisationId.toLowerCase();
  const permission = input['vouchers|externalPayments'];
  if (permission !== 'vouchers' && permission !== 'externalPayments')
    throw usageError(`"${permission}" cannot be granted: write vouchers or externalPayments`);
  const { grants } = await getMerchant(api, merchantId);
  const existing = grants.find((candidate) => candidate.organisationId === organisationId);
  const changed = { organisationId, vouchers: false, externalPayments: false, ...existing, [permission]: isAllowed };
  const others = grants.filter((candidate) => candidate !== existing);
  const merchant = await api.call('PATCH', merchantPath(merchantId), { grants: [...others, changed] });
  return (merchant as Merchant).grants;
}
