import type { Administration } from '../base/administration.ts';
import { SERVICES } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { command, merchantNumber, pages, queryOf, request, wrongInput } from './command.ts';

/** Webhooks of merchants (E5, E6); messages that a service gave up on; read models that are built again from the log. */
export const messageCommands = [
  command(
    'webhooks list [--state=…] [--merchant=…] [--unsigned]',
    'the newest 50; state: pending, delivered, superseded, exhausted or gone; --unsigned: keys are missing',
    async (api, { state, merchant, unsigned }) => {
      const merchantId = merchant === undefined ? undefined : String(merchantNumber(merchant));
      const query = queryOf({ state, merchantId, unsigned: unsigned === true ? 'true' : undefined });
      return ((await api.call('GET', `/notifications${query}`)) as { notifications: unknown }).notifications;
    },
  ),
  request('webhooks show <id>', 'one notification with every attempt', 'GET /notifications/{id}'),
  request(
    'webhooks failing',
    'endpoints that fail, until when they are left alone, and how much waits for them',
    'GET /notifications/circuits#circuits',
  ),
  command('webhooks replay <id>', 'sends one again, now, under its webhook-id', async (api, { id }) => ({
    id,
    ...((await api.call('POST', `/notifications/${encodeURIComponent(id)}/replay`)) as object),
  })),
  command(
    'webhooks replay-all [--state=…] [--merchant=…] [--endpoint=…] [--since=…]',
    "everything exhausted (--state exhausted), or a merchant's since a time, delivered or not",
    async (api, { state, merchant, endpoint, since }) => {
      const selection = {
        ...(state === undefined ? {} : { state }),
        ...(merchant === undefined ? {} : { merchantId: merchantNumber(merchant) }),
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(since === undefined ? {} : { since }),
      };
      // Skipped are those that are being sent, and failures of a session that was paid since.
      const sum = { replayed: 0, skipped: 0 };
      for await (const page of pages<typeof sum & { after: string | null }>((after) =>
        api.call('POST', '/notifications/replays', after === null ? selection : { ...selection, after }),
      )) {
        sum.replayed += page.replayed;
        sum.skipped += page.skipped;
      }
      return sum;
    },
  ),
  command(
    'dead-letters list <service> [--type=…] [--all]',
    'the newest 200 messages that a service gave up on, and why; --all for every one',
    async (api, { service, type, all }) => {
      const letters: unknown[] = [];
      for await (const page of pages<{ deadLetters: unknown[]; after: string | null }>((after) =>
        api.call('GET', `${deadLettersPath(service)}${queryOf({ type, after })}`),
      )) {
        letters.push(...page.deadLetters);
        if (all !== true) break;
      }
      return letters;
    },
  ),
  command(
    'dead-letters replay <service> <messageId>',
    'has one handled again, now; it is gone when that succeeds',
    (api, { service, messageId }) =>
      api.call('POST', `${deadLettersPath(service)}/${encodeURIComponent(messageId)}/replay`),
  ),
  command(
    'dead-letters replay-all <service> [--type=…]',
    'has all of them, or all of a type, handled again; those that fail again stay',
    async (api, { service, type }) => {
      // A page that fails stays, and the next one begins behind it.
      const sum = { replayed: 0, failed: 0 };
      for await (const page of pages<typeof sum & { after: string | null }>((after) =>
        api.call('POST', `${deadLettersPath(service)}/replays${queryOf({ type, after })}`),
      )) {
        sum.replayed += page.replayed;
        sum.failed += page.failed;
      }
      return sum;
    },
  ),
  command(
    'dead-letters broker <service>',
    'how many messages RabbitMQ itself gave up on, and the oldest',
    async (api, { service }) => {
      const { count, countMax, oldest } = (await api.call('GET', `${deadLettersPath(service)}/broker`)) as InBroker;
      return { count, countMax, ...oldest };
    },
  ),
  command(
    'dead-letters broker-replay <service>',
    'has all of those handled; those that are refused stay',
    async (api, { service }) => {
      // Page after page, for as long as a page replays any.
      const sum = { replayed: 0, refused: 0 };
      for (let page = { replayed: 1, refused: 0 }; page.replayed > 0;) {
        page = (await api.call('POST', `${deadLettersPath(service)}/broker/replays`)) as typeof page;
        sum.replayed += page.replayed;
        sum.refused = page.refused;
      }
      return sum;
    },
  ),
  command('history rebuild', 'builds the history that partners read anew from the log while it serves', (api) =>
    rebuild(api, 'history'),
  ),
  command('retrieval rebuild', 'builds the payments that merchants retrieve anew from the log while it serves', (api) =>
    rebuild(api, 'retrieval'),
  ),
];

interface InBroker {
  readonly count: number;
  readonly countMax: number;
  readonly oldest: object | null;
}

/** Those that consume events; each keeps its own dead letters. */
const CONSUMERS: readonly string[] = SERVICES.filter((service) => service !== 'demo-shop');

function deadLettersPath(service: string): string {
  if (!CONSUMERS.includes(service)) throw wrongInput(`"${service}" keeps no dead letters: ${CONSUMERS.join(', ')} do`);
  return `/dead-letters/${service}`;
}

/** A log of some ten million payments takes about this long. */
const REBUILT_WITHIN_SECONDS = 3_600;

interface RebuildState {
  readonly serving: number;
  readonly building: number | null;
}

async function rebuild(api: Administration, readModel: string): Promise<unknown> {
  const begun = (await api.call('POST', `/${readModel}/rebuild`)) as RebuildState;
  if (begun.building === null) return begun;
  const rebuilt = await waitUntil(
    async () => {
      const state = (await api.call('GET', `/${readModel}/rebuild`)) as RebuildState;
      return state.building === begun.building ? undefined : state;
    },
    { withinSeconds: REBUILT_WITHIN_SECONDS, everyMilliseconds: 500 },
  );
  if (rebuilt === undefined)
    throw new SvcError(`the rebuild of ${readModel} is not finished`, { hint: 'the same command waits for it again' });
  return { serving: rebuilt.serving };
}
