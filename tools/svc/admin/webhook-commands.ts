import type { Administration } from './administration.ts';
import { type AdminCommand, type Input, parameter, segment, wrongInput } from './command.ts';

interface Replayed {
  readonly replayed: number;
  readonly skipped: number;
  readonly after: string | null;
}

/** What merchants were told, and telling them again (E5, E6). */
export const webhookCommands: readonly AdminCommand[] = [
  {
    name: 'webhooks list',
    parameters: [],
    options: { state: 'text', merchant: 'text', unsigned: 'flag' },
    summary: 'the newest 50; state: pending, delivered, superseded, exhausted or gone; --unsigned: keys are missing',
    run: async (api, { options }) => {
      const query = new URLSearchParams();
      if (typeof options['state'] === 'string') query.set('state', options['state']);
      if (options['merchant'] !== undefined) query.set('merchantId', String(merchantOf(options)));
      if (options['unsigned'] === true) query.set('unsigned', 'true');
      const { notifications } = (await api.call('GET', `/notifications?${query}`)) as { notifications: unknown[] };
      return notifications;
    },
  },
  {
    name: 'webhooks show',
    parameters: ['id'],
    summary: 'one notification with every try',
    run: (api, input) => api.call('GET', `/notifications/${segment(parameter(input, 0))}`),
  },
  {
    name: 'webhooks failing',
    parameters: [],
    summary: 'endpoints that fail, until when they are left alone, and how much waits for them',
    run: async (api) => ((await api.call('GET', '/notifications/circuits')) as { circuits: unknown[] }).circuits,
  },
  {
    name: 'webhooks replay',
    parameters: ['id'],
    summary: 'sends one again, now, under its webhook-id',
    run: async (api, input) => {
      const id = parameter(input, 0);
      const answer = (await api.call('POST', `/notifications/${segment(id)}/replay`)) as object;
      return { id, ...answer };
    },
  },
  {
    name: 'webhooks replay-all',
    parameters: [],
    options: { state: 'text', merchant: 'text', endpoint: 'text', since: 'text' },
    summary: "everything exhausted (--state exhausted), or a merchant's since a time, delivered or not",
    run: replayAll,
  },
];

/** Page after page; what is skipped is being sent, or the failure of a session that was paid since. */
async function replayAll(api: Administration, { options }: Input): Promise<{ replayed: number; skipped: number }> {
  const { state, endpoint, since } = options;
  const asked = {
    ...(state === undefined ? {} : { state }),
    ...(options['merchant'] === undefined ? {} : { merchantId: merchantOf(options) }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(since === undefined ? {} : { since }),
  };
  const sum = { replayed: 0, skipped: 0 };
  for (let after: string | null | undefined; after !== null;) {
    const body = after === undefined ? asked : { ...asked, after };
    const page = (await api.call('POST', '/notifications/replays', body)) as Replayed;
    sum.replayed += page.replayed;
    sum.skipped += page.skipped;
    after = page.after;
  }
  return sum;
}

function merchantOf({ merchant }: Input['options']): number {
  if (!/^[1-9]\d{0,14}$/.test(String(merchant))) throw wrongInput(`"${String(merchant)}" is no merchantId`);
  return Number(merchant);
}
