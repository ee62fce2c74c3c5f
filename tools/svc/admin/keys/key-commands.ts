import { type AdminCommand, command, ownerPath, pickMode, request } from '../command.ts';

interface Key {
  readonly keyId: string;
  readonly mode: 'test' | 'live';
  /** Beginning of the key. */
  readonly prefix: string;
}

/** API keys of partners, merchants and sites. */
export const keyCommands = [
  {
    ...request(
      'keys create <owner> [--live]',
      'creates an additional API key, shown once',
      'POST {owner}/keys',
      pickMode,
    ),
    remark: async (api, { live }) => {
      if (live !== true) return undefined;
      const { acquirers } = (await api.call('GET', '/merchant-accounts?merchantId=1')) as {
        acquirers: { live: readonly string[] };
      };
      return acquirers.live.length > 0
        ? undefined
        : 'No acquirer for live payments is configured (SVC_ACQUIRER_LIVE): live payments are refused until there is one. See docs/go-live.md.';
    },
  } satisfies AdminCommand,
  request('keys list <owner>', 'lists the API keys, newest first', 'GET {owner}/keys#keys'),
  command(
    'keys revoke <owner> <keyId>',
    'revokes an API key: all services refuse it within 5 s',
    async (api, { owner, keyId, json }) => {
      const keysPath = `${ownerPath(owner)}/keys`;
      await api.call('DELETE', `${keysPath}/${encodeURIComponent(keyId)}`);
      const { keys } = (await api.call('GET', keysPath)) as { keys: readonly Key[] };
      const key = keys.find((candidate) => candidate.keyId === keyId.toLowerCase());
      if (json === true) return key ?? { keyId };
      const name = key === undefined ? `The key ${keyId}` : `The ${key.mode} key ${key.prefix}… (${key.keyId})`;
      return `${name} of ${owner} is revoked. All services refuse it within 5 s.`;
    },
  ),
];
