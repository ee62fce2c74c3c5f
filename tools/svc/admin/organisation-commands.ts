import type { Administration } from './administration.ts';
import { type AdminCommand, modeOf, organisationPath, parameter, segment } from './command.ts';

/** More pages than this are not for a terminal. */
const PAGES_MAX = 200;

/** Partners, and what their servers log in with. Their API keys are among the `keys` commands. */
export const organisationCommands: readonly AdminCommand[] = [
  {
    name: 'organisations create',
    parameters: ['name'],
    summary: 'on-boards a partner',
    run: (api, input) => api.call('POST', '/organisations', { name: parameter(input, 0) }),
  },
  {
    name: 'organisations list',
    parameters: [],
    summary: 'all partners',
    run: (api) => readPages(api, 'organisations', '00000000-0000-0000-0000-000000000000'),
  },
  {
    name: 'organisations rename',
    parameters: ['organisationId', 'name'],
    summary: 'gives a partner another name',
    run: (api, input) => api.call('PATCH', organisationPath(parameter(input, 0)), { name: parameter(input, 1) }),
  },
  {
    name: 'api-tokens create',
    parameters: ['organisationId'],
    options: { live: 'flag' },
    summary: "what the partner's server logs in with, shown once",
    run: (api, input) =>
      api.call('POST', `${organisationPath(parameter(input, 0))}/api-tokens`, { mode: modeOf(input) }),
  },
  {
    name: 'api-tokens list',
    parameters: ['organisationId'],
    summary: 'those of a partner, the newest first',
    run: async (api, input) => {
      const answer = await api.call('GET', `${organisationPath(parameter(input, 0))}/api-tokens`);
      return (answer as { apiTokens: unknown }).apiTokens;
    },
  },
  {
    name: 'api-tokens revoke',
    parameters: ['organisationId', 'tokenId'],
    summary: 'no further login with it',
    run: (api, input) =>
      api.call('DELETE', `${organisationPath(parameter(input, 0))}/api-tokens/${segment(parameter(input, 1))}`),
  },
];

/** All entries of a list that comes in pages. */
export async function readPages(api: Administration, list: string, first: string | number): Promise<unknown[]> {
  const entries: unknown[] = [];
  let after: string | number | undefined = first;
  for (let page = 0; page < PAGES_MAX && after !== undefined; page++) {
    const answer = (await api.call('GET', `/${list}?after=${after}`)) as Record<string, unknown>;
    entries.push(...(answer[list] as unknown[]));
    after = answer['nextAfter'] as typeof after;
  }
  return entries;
}
