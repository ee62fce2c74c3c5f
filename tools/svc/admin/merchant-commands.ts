import type { Administration } from './administration.ts';
import { type AdminCommand, type Input, merchantPath, modeOf, parameter, sitePath, wrongInput } from './command.ts';
import { readPages } from './organisation-commands.ts';

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

const getMerchant = async (api: Administration, input: Input): Promise<Merchant> =>
  (await api.call('GET', merchantPath(parameter(input, 0)))) as Merchant;

/** Merchants and what they let payers and partners do. */
export const merchantCommands: readonly AdminCommand[] = [
  {
    name: 'merchants create',
    parameters: ['name'],
    summary: 'on-boards a merchant',
    run: (api, input) => api.call('POST', '/merchants', { name: parameter(input, 0) }),
  },
  {
    name: 'merchants list',
    parameters: [],
    summary: 'all merchants, and how many sites each has',
    run: (api) => readPages(api, 'merchants', 0),
  },
  {
    name: 'merchants show',
    parameters: ['merchantId'],
    summary: 'one merchant with its sites',
    run: getMerchant,
  },
  {
    name: 'merchants rename',
    parameters: ['merchantId', 'name'],
    summary: 'what payers see',
    run: (api, input) => api.call('PATCH', merchantPath(parameter(input, 0)), { name: parameter(input, 1) }),
  },
  {
    name: 'merchants minimum',
    parameters: ['merchantId', 'cents'],
    summary: 'the least a payer may pay of a larger invoice where amount.editable; 100 unless it is set',
    run: (api, input) => {
      const cents = parameter(input, 1);
      if (!/^\d{1,12}$/.test(cents)) throw wrongInput(`"${cents}" is no whole number of cents`);
      return api.call('PATCH', merchantPath(parameter(input, 0)), { minimumAmount: Number(cents) });
    },
  },
  {
    name: 'merchants fee',
    parameters: ['merchantId', 'basisPoints', 'cents'],
    options: { live: 'flag' },
    summary: 'what the service charges for each card payment from now on: 290 150 is 2.9 % and R 1.50; 0 0 is nothing',
    run: async (api, input) => {
      const [basisPoints, cents] = [parameter(input, 1), parameter(input, 2)];
      const wrong = [basisPoints, cents].find((text) => !/^\d{1,6}$/.test(text));
      if (wrong !== undefined) throw wrongInput(`"${wrong}" is no whole number of basis points or cents`);
      const { fees } = await getMerchant(api, input);
      const terms = { basisPoints: Number(basisPoints), fixedAmount: Number(cents) };
      return api.call('PATCH', merchantPath(parameter(input, 0)), { fees: { ...fees, [modeOf(input)]: terms } });
    },
  },
  {
    name: 'features set',
    parameters: ['merchantId', 'feature=value…'],
    summary: 'for example tip.enabled=true orderReference.label=Table',
    run: async (api, input) => {
      const { features } = await getMerchant(api, input);
      return api.call('PATCH', merchantPath(parameter(input, 0)), {
        features: input.parameters.slice(1).reduce(withFeature, features),
      });
    },
  },
  {
    name: 'features clear',
    parameters: ['merchantId'],
    summary: 'none of them',
    run: (api, input) => api.call('PATCH', merchantPath(parameter(input, 0)), { features: {} }),
  },
  {
    name: 'grants allow',
    parameters: ['merchantId', 'organisationId', 'vouchers|externalPayments'],
    summary: "the merchant takes this partner's word for them",
    run: (api, input) => grant(api, input, true),
  },
  {
    name: 'grants deny',
    parameters: ['merchantId', 'organisationId', 'vouchers|externalPayments'],
    summary: 'and no longer',
    run: (api, input) => grant(api, input, false),
  },
  {
    name: 'grants list',
    parameters: ['merchantId'],
    summary: 'whose word a merchant takes for what',
    run: async (api, input) => (await getMerchant(api, input)).grants,
  },
];

/** Accounts of merchants at acquirers: under which their money is taken and given back. */
export const merchantAccountCommands: readonly AdminCommand[] = [
  {
    name: 'merchant-accounts set',
    parameters: ['merchantId', 'accountReference'],
    options: { acquirer: 'text', live: 'flag' },
    summary: 'what the acquirer calls the account of this merchant; charges from now on are made under it',
    run: (api, input) => {
      const merchantId = parameter(input, 0);
      if (!/^\d{1,15}$/.test(merchantId)) throw wrongInput(`"${merchantId}" is no merchantId`);
      const { acquirer } = input.options;
      return api.call('POST', '/merchant-accounts', {
        merchantId: Number(merchantId),
        mode: modeOf(input),
        accountReference: parameter(input, 1),
        ...(acquirer === undefined ? {} : { acquirer }),
      });
    },
  },
  {
    name: 'merchant-accounts list',
    parameters: [],
    summary: 'every setting, the newest first; a merchant without one has the default of the acquirer',
    run: async (api) =>
      ((await api.call('GET', '/merchant-accounts')) as { merchantAccounts: unknown }).merchantAccounts,
  },
];

/** Shops, tills and web shops of merchants. */
export const siteCommands: readonly AdminCommand[] = [
  {
    name: 'sites create',
    parameters: ['merchantId', 'name', 'siteReference'],
    options: { keyless: 'flag', hosts: 'text', live: 'flag' },
    summary: 'a shop, till or web shop with its webhook secrets; --keyless needs --hosts a.example,b.example',
    run: (api, input) => {
      const { keyless, hosts, live } = input.options;
      return api.call('POST', `${merchantPath(parameter(input, 0))}/sites`, {
        name: parameter(input, 1),
        siteReference: parameter(input, 2),
        requireApiKey: keyless !== true,
        allowedHosts: typeof hosts === 'string' ? hosts.split(',') : [],
        keylessMode: live === true ? 'live' : 'test',
      });
    },
  },
  {
    name: 'sites rename',
    parameters: ['merchantId/siteId', 'name'],
    summary: 'what payers see',
    run: (api, input) => api.call('PATCH', sitePath(parameter(input, 0)), { name: parameter(input, 1) }),
  },
  {
    name: 'sites webhook',
    parameters: ['merchantId/siteId', 'url|on|off'],
    summary:
      'sends every final payment and refund of the site to this address; off keeps the address, on uses it again',
    run: (api, input) => {
      const setting = parameter(input, 1);
      const isSwitch = setting === 'on' || setting === 'off';
      return api.call('PATCH', sitePath(parameter(input, 0)), {
        ...(isSwitch ? {} : { webhookUrl: setting }),
        webhookEnabled: setting !== 'off',
      });
    },
  },
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
  const [, feature, member, text] = /^([A-Za-z]+)\.([A-Za-z]+)=(.*)$/.exec(assignment) ?? [];
  if (feature === undefined || member === undefined)
    throw wrongInput(`"${assignment}" sets no feature: write feature.member=value, for example tip.enabled=true`);
  if (!FEATURES.has(`${feature}.${member}`))
    throw wrongInput(`there is no feature "${feature}.${member}": ${[...FEATURES].join(', ')}`);
  const value = text === 'true' ? true : text === 'false' ? false : text;
  return { ...features, [feature]: { ...features[feature], [member]: value } };
}

async function grant(api: Administration, input: Input, allowed: boolean): Promise<unknown> {
  const [organisationId, what] = [parameter(input, 1).toLowerCase(), parameter(input, 2)];
  if (what !== 'vouchers' && what !== 'externalPayments')
    throw wrongInput(`"${what}" can be granted to nobody: vouchers, or externalPayments`);
  const { grants } = await getMerchant(api, input);
  const before = grants.find((known) => known.organisationId === organisationId);
  const after = { organisationId, vouchers: false, externalPayments: false, ...before, [what]: allowed };
  const others = grants.filter((known) => known.organisationId !== organisationId);
  const answer = await api.call('PATCH', merchantPath(parameter(input, 0)), { grants: [...others, after] });
  return (answer as Merchant).grants;
}
