import { type Administration, readList } from '../base/administration.ts';
import { command, merchantNumber, merchantPath, modeOf, request, wholeNumber, wrongInput } from './command.ts';

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

const nameOf = ({ name }: { readonly name: string }) => ({ name });

/** Partners, merchants, their sites and settings; API keys and secrets; the platform's own keys. */
export const onBoardingCommands = [
  request('organisations create <name>', 'on-boards a partner', 'POST /organisations', nameOf),
  command('organisations list', 'all partners', (api) =>
    readList(api, 'organisations', '00000000-0000-0000-0000-000000000000'),
  ),
  request(
    'organisations rename <organisationId> <name>',
    'gives a partner another name',
    'PATCH {organisationId}',
    nameOf,
  ),
  request(
    'api-tokens create <organisationId> [--live]',
    "what the partner's server logs in with, shown once",
    'POST {organisationId}/api-tokens',
    modeOf,
  ),
  request(
    'api-tokens list <organisationId>',
    'those of a partner, the newest first',
    'GET {organisationId}/api-tokens#apiTokens',
  ),
  request(
    'api-tokens revoke <organisationId> <tokenId>',
    'no further login with it',
    'DELETE {organisationId}/api-tokens/{tokenId}',
  ),
  request('merchants create <name>', 'on-boards a merchant', 'POST /merchants', nameOf),
  command('merchants list', 'all merchants, and how many sites each has', (api) => readList(api, 'merchants', 0)),
  request('merchants show <merchantId>', 'one merchant with its sites', 'GET {merchantId}'),
  request('merchants rename <merchantId> <name>', 'what payers see', 'PATCH {merchantId}', nameOf),
  request(
    'merchants minimum <merchantId> <cents>',
    'the least a payer may pay of a larger invoice where amount.editable; 100 unless it is set',
    'PATCH {merchantId}',
    ({ cents }) => ({ minimumAmount: wholeNumber(cents, 12, 'cents') }),
  ),
  command(
    'merchants fee <merchantId> <basisPoints> <cents> [--live]',
    'what the service charges for each card payment from now on: 290 150 is 2.9 % and R 1.50; 0 0 is nothing',
    async (api, { merchantId, basisPoints, cents, ...input }) => {
      const unit = 'basis points or cents';
      const terms = { basisPoints: wholeNumber(basisPoints, 6, unit), fixedAmount: wholeNumber(cents, 6, unit) };
      const { fees } = await getMerchant(api, merchantId);
      return api.call('PATCH', merchantPath(merchantId), { fees: { ...fees, [modeOf(input).mode]: terms } });
    },
  ),
  command(
    'features set <merchantId> <feature=value…>',
    'for example tip.enabled=true orderReference.label=Table',
    async (api, { merchantId, 'feature=value': assignments }) => {
      const { features } = await getMerchant(api, merchantId);
      return api.call('PATCH', merchantPath(merchantId), { features: assignments.reduce(withFeature, features) });
    },
  ),
  request('features clear <merchantId>', 'none of them', 'PATCH {merchantId}', () => ({ features: {} })),
  command(
    'grants allow <merchantId> <organisationId> <vouchers|externalPayments>',
    "the merchant accepts this partner's reports of them",
    (api, input) => grant(api, input, true),
  ),
  command('grants deny <merchantId> <organisationId> <vouchers|externalPayments>', 'and no longer', (api, input) =>
    grant(api, input, false),
  ),
  request('grants list <merchantId>', 'which partners may report what', 'GET {merchantId}#grants'),
  request(
    'sites create <merchantId> <name> <siteReference> [--keyless] [--hosts=…] [--live]',
    'a shop, till or web shop with its webhook secrets; --keyless needs --hosts a.example,b.example',
    'POST {merchantId}/sites',
    ({ name, siteReference, keyless, hosts, ...input }) => ({
      name,
      siteReference,
      requireApiKey: keyless !== true,
      allowedHosts: hosts?.split(',') ?? [],
      keylessMode: modeOf(input).mode,
    }),
  ),
  request('sites rename <site> <name>', 'what payers see', 'PATCH {site}', nameOf),
  request(
    'sites webhook <site> <url|on|off>',
    'sends every final payment and refund of the site to this address; off keeps the address, on uses it again',
    'PATCH {site}',
    ({ 'url|on|off': setting }) => ({
      ...(setting === 'on' || setting === 'off' ? {} : { webhookUrl: setting }),
      webhookEnabled: setting !== 'off',
    }),
  ),
  request(
    'merchant-accounts set <merchantId> <accountReference> [--acquirer=…] [--live]',
    'what the acquirer calls the account of this merchant; charges from now on are made under it',
    'POST /merchant-accounts',
    ({ merchantId, accountReference, acquirer, ...input }) => ({
      merchantId: merchantNumber(merchantId),
      ...modeOf(input),
      accountReference,
      ...(acquirer === undefined ? {} : { acquirer }),
    }),
  ),
  request(
    'merchant-accounts list',
    'every setting, the newest first; a merchant without one has the default of the acquirer',
    'GET /merchant-accounts#merchantAccounts',
  ),
  request('keys create <owner> [--live]', 'an API key beside those there are, shown once', 'POST {owner}/keys', modeOf),
  request('keys list <owner>', 'its keys, the newest first', 'GET {owner}/keys#keys'),
  request('keys revoke <owner> <keyId>', 'refused everywhere within 5 s', 'DELETE {owner}/keys/{keyId}'),
  request(
    'webhook-secrets create <site> [--live]',
    'signs notifications beside those there are, shown once',
    'POST {site}/webhook-secrets',
    modeOf,
  ),
  request('webhook-secrets list <site>', 'those of a site, the newest first', 'GET {site}/webhook-secrets#secrets'),
  request('webhook-secrets revoke <site> <secretId>', 'signs no more', 'DELETE {site}/webhook-secrets/{secretId}'),
  request('token-keys list', 'the keys that identity tokens are verified with', 'GET /token-keys#tokenKeys'),
  request('token-keys rotate', 'the next one now; it signs in ten minutes', 'POST /token-keys'),
  request(
    'token-keys withdraw <kid>',
    'for one that leaked: nothing it signed is accepted any more',
    'DELETE /token-keys/{kid}',
  ),
  request('card-keys list', 'the keys that card data is encrypted to, the newest first', 'GET /card-keys#cardKeys'),
  request('card-keys rotate', 'a new one, at once; cards to the older one open for 24 hours more', 'POST /card-keys'),
  request(
    'audit-log read [--after=…]',
    'what administrators changed, oldest first, 100 at a time',
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

/** `tip.enabled=true`: the API says what there is, and whether the value is good. */
function withFeature(features: Merchant['features'], assignment: string): Merchant['features'] {
  const [, feature, setting, text] = /^([A-Za-z]+)\.([A-Za-z]+)=(.*)$/.exec(assignment) ?? [];
  if (feature === undefined || setting === undefined)
    throw wrongInput(`"${assignment}" sets no feature: write feature.member=value, for example tip.enabled=true`);
  if (!FEATURES.has(`${feature}.${setting}`))
    throw wrongInput(`there is no feature "${feature}.${setting}": ${[...FEATURES].join(', ')}`);
  const value = text === 'true' ? true : text === 'false' ? false : text;
  return { ...features, [feature]: { ...features[feature], [setting]: value } };
}

async function grant(
  api: Administration,
  { merchantId, ...input }: Readonly<Record<'merchantId' | 'organisationId' | 'vouchers|externalPayments', string>>,
  allowed: boolean,
): Promise<unknown> {
  const [organisationId, what] = [input.organisationId.toLowerCase(), input['vouchers|externalPayments']];
  if (what !== 'vouchers' && what !== 'externalPayments')
    throw wrongInput(`"${what}" can be granted to nobody: vouchers, or externalPayments`);
  const { grants } = await getMerchant(api, merchantId);
  const before = grants.find((known) => known.organisationId === organisationId);
  const after = { organisationId, vouchers: false, externalPayments: false, ...before, [what]: allowed };
  const others = grants.filter((known) => known.organisationId !== organisationId);
  const answer = await api.call('PATCH', merchantPath(merchantId), { grants: [...others, after] });
  return (answer as Merchant).grants;
}
