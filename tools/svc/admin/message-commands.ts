import type { Administration } from '../administration-api/administration.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { SERVICES } from '../settings/settings.ts';
import { command, formatQuery, parseMerchantId, readPages, request, sumPages, usageError } from './command.ts';

/** Webhooks of merchants (E5, E6), dead letters of the services, and rebuilds of read models. */
export const messageCommands = [
  command(
    'webhooks list [--state=…] [--merchant=…] [--unsigned]',
    'lists the newest 50; state: pending, delivered, superseded, exhausted or gone; --unsigned: waiting for a signing key',
    async (api, { state, merchant, unsigned }) => {
      const merchantId = merchant === undefined ? undefined : String(parseMerchantId(merchant));
      const query = formatQuery({ state, merchantId, unsigned: unsigned === true ? 'true' : undefined });
      return ((await api.call('GET', `/notifications${query}`)) as { notifications: unknown }).notifications;
    },
  ),
  request('webhooks show <id>', 'shows a notification with all attempts', 'GET /notifications/{id}'),
  request(
    'webhooks failing',
    'lists failing endpoints, the time of the next probe, and the number of waiting notifications',
    'GET /notifications/circuits#circuits',
  ),
  command('webhooks replay <id>', 'resends a notification now, with the same webhook-id', async (api, { id }) => ({
    id,
    ...((await api.call('POST', `/notifications/${encodeURIComponent(id)}/replay`)) as object),
  })),
  command(
    'webhooks replay-all [--state=…] [--merchant=…] [--endpoint=…] [--since=…]',
    'resends all exhausted notifications (--state exhausted), or all of a merchant since a time, also delivered ones',
    async (api, { state, merchant, endpoint, since }) => {
      const selection = {
        ...(state === undefined ? {} : { state }),
        ...(merchant === undefined ? {} : { merchantId: parseMerchantId(merchant) }),
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(since === undefined ? {} : { since }),
      };
      // The service skips notifications that it is sending now, and failures of a session that has since been paid.
      return sumPages(['replayed', 'skipped'], (after) =>
        api.call('POST', '/notifications/replays', after === null ? selection : { ...selection, after }),
      );
    },
  ),
  command(
    'dead-letters list <service> [--type=…] [--all]',
    'lists the newest 200 dead letters with their errors; --all: all of them',
    async (api, { service, type, all }) => {
      const letters: unknown[] = [];
      for await (const page of readPages<{ deadLetters: unknown[]; after: string | null }>((after) =>
        api.call('GET', `${deadLettersPath(service)}${formatQuery({ type, after })}`),
      )) {
        letters.push(...page.deadLetters);
        if (all !== true) break;
      }
      return letters;
    },
  ),
  command(
    'dead-letters replay <service> <messageId>',
    'replays a dead letter now and removes it on success',
    (api, { service, messageId }) =>
      api.call('POST', `${deadLettersPath(service)}/${encodeURIComponent(messageId)}/replay`),
  ),
  command(
    'dead-letters replay-all <service> [--type=…]',
    'replays all dead letters, or all of a type; those that fail again stay',
    // Messages that fail again stay, so the next page starts after them.
    async (api, { service, type }) =>
      sumPages(['replayed', 'failed'], (after) =>
        api.call('POST', `${deadLettersPath(service)}/replays${formatQuery({ type, after })}`),
      ),
  ),
  command(
    'dead-letters drop <service> <messageId>',
    'deletes a dead letter whose effect is not wanted any more, without handling it',
    (api, { service, messageId }) => api.call('DELETE', `${deadLettersPath(service)}/${encodeURIComponent(messageId)}`),
  ),
  command('status', 'shows the version, the lag and the dead letters of each service', async (api) =>
    Promise.all(CONSUMERS.map((service) => api.call('GET', `/status/${service}`))),
  ),
  command(
    'dead-letters broker <service>',
    'shows the number of messages dead-lettered by RabbitMQ, and the oldest',
    async (api, { service }) => {
      const { count, countMax, oldest } = (await api.call(
        'GET',
        `${deadLettersPath(service)}/broker`,
      )) as BrokerDeadLetters;
      return { count, countMax, ...oldest };
    },
  ),
  command(
    'dead-letters broker-replay <service>',
    'replays the messages dead-lettered by RabbitMQ; refused messages stay',
    async (api, { service }) => {
      // Requests pages until a page replays no message. Refused messages stay, so the last page counts all of them.
      // The first value of `page` only starts the loop.
      const sum = { replayed: 0, refused: 0 };
      for (let page = { replayed: 1, refused: 0 }; page.replayed > 0;) {
        page = (await api.call('POST', `${deadLettersPath(service)}/broker/replays`)) as typeof page;
        sum.replayed += page.replayed;
        sum.refused = page.refused;
      }
      return sum;
    },
  ),
  command(
    'history rebuild',
    'rebuilds the read model of the payment history from the event log, without downtime',
    (api) => rebuildReadModel(api, 'history'),
  ),
  command(
    'retrieval rebuild',
    'rebuilds the read model of the payment retrieval of merchants from the event log, without downtime',
    (api) => rebuildReadModel(api, 'retrieval'),
  ),
  command('console rebuild', 'rebuilds the read model of the console from the event log, without downtime', (api) =>
    rebuildReadModel(api, 'console'),
  ),
];

interface BrokerDeadLetters {
  readonly count: number;
  readonly countMax: number;
  readonly oldest: object | null;
}

/** Each service that consumes events stores its own dead letters. */
const CONSUMERS: readonly string[] = SERVICES.filter((service) => service !== 'demo-shop');

function deadLettersPath(service: string): string {
  if (!CONSUMERS.includes(service))
    throw usageError(`"${service}" has no dead letters; the services with dead letters are ${CONSUMERS.join(', ')}`);
  return `/dead-letters/${service}`;
}

/** The rebuild from an event log of about ten million payments takes about this time. */
const REBUILD_TIMEOUT_SECONDS = 3_600;

interface RebuildState {
  readonly serving: number;
  readonly building: number | null;
}

async function rebuildReadModel(api: Administration, readModel: string): Promise<unknown> {
  const started = (await api.call('POST', `/${readModel}/rebuild`)) as RebuildState;
  if (started.building === null) return started;
  const rebuilt = await waitUntil(
    async () => {
      const state = (await api.call('GET', `/${readModel}/rebuild`)) as RebuildState;
      return state.building === started.building ? undefined : state;
    },
    { withinSeconds: REBUILD_TIMEOUT_SECONDS, everyMilliseconds: 500 },
  );
  if (rebuilt === undefined)
    throw new SvcError(`the rebuild of ${readModel} has not finished yet`, {
      hint: 'run the same command again to keep waiting',
    });
  return { serving: rebuilt.serving };
}
