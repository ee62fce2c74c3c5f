import { type AdminCommand, modeOf, ownerPath, parameter, segment, sitePath } from './command.ts';

/** API keys of partners, merchants and sites; secrets of webhooks; the keys that sign identity tokens and those for card data. */
export const credentialCommands: readonly AdminCommand[] = [
  {
    name: 'keys create',
    parameters: ['owner'],
    options: { live: 'flag' },
    summary: 'an API key beside those there are, shown once',
    run: (api, input) => api.call('POST', `${ownerPath(parameter(input, 0))}/keys`, { mode: modeOf(input) }),
  },
  {
    name: 'keys list',
    parameters: ['owner'],
    summary: 'its keys, the newest first',
    run: async (api, input) => {
      const answer = await api.call('GET', `${ownerPath(parameter(input, 0))}/keys`);
      return (answer as { keys: unknown }).keys;
    },
  },
  {
    name: 'keys revoke',
    parameters: ['owner', 'keyId'],
    summary: 'refused everywhere within 5 s',
    run: (api, input) => api.call('DELETE', `${ownerPath(parameter(input, 0))}/keys/${segment(parameter(input, 1))}`),
  },
  {
    name: 'webhook-secrets create',
    parameters: ['merchantId/siteId'],
    options: { live: 'flag' },
    summary: 'signs notifications beside those there are, shown once',
    run: (api, input) => api.call('POST', `${sitePath(parameter(input, 0))}/webhook-secrets`, { mode: modeOf(input) }),
  },
  {
    name: 'webhook-secrets list',
    parameters: ['merchantId/siteId'],
    summary: 'those of a site, the newest first',
    run: async (api, input) => {
      const answer = await api.call('GET', `${sitePath(parameter(input, 0))}/webhook-secrets`);
      return (answer as { secrets: unknown }).secrets;
    },
  },
  {
    name: 'webhook-secrets revoke',
    parameters: ['merchantId/siteId', 'secretId'],
    summary: 'signs no more',
    run: (api, input) =>
      api.call('DELETE', `${sitePath(parameter(input, 0))}/webhook-secrets/${segment(parameter(input, 1))}`),
  },
  {
    name: 'token-keys list',
    parameters: [],
    summary: 'the keys that identity tokens are verified with',
    run: async (api) => ((await api.call('GET', '/token-keys')) as { tokenKeys: unknown }).tokenKeys,
  },
  {
    name: 'token-keys rotate',
    parameters: [],
    summary: 'the next one now; it signs in ten minutes',
    run: (api) => api.call('POST', '/token-keys'),
  },
  {
    name: 'token-keys withdraw',
    parameters: ['kid'],
    summary: 'for one that leaked: nothing it signed is accepted any more',
    run: (api, input) => api.call('DELETE', `/token-keys/${segment(parameter(input, 0))}`),
  },
  {
    name: 'card-keys list',
    parameters: [],
    summary: 'the keys that card data is encrypted to, the newest first',
    run: async (api) => ((await api.call('GET', '/card-keys')) as { cardKeys: unknown }).cardKeys,
  },
  {
    name: 'card-keys rotate',
    parameters: [],
    summary: 'a new one, at once; cards to the older one open for 24 hours more',
    run: (api) => api.call('POST', '/card-keys'),
  },
  {
    name: 'audit-log read',
    parameters: [],
    options: { after: 'text' },
    summary: 'what administrators changed, oldest first, 100 at a time',
    run: async (api, input) => {
      const after = input.options['after'] ?? '0';
      const answer = await api.call('GET', `/audit-log?after=${segment(String(after))}`);
      return (answer as { entries: unknown }).entries;
    },
  },
];
