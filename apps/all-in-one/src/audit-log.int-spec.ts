/**
 * Calls every administration endpoint that changes or sends something, of every service, and compares the audit log
 * (A10). The list of endpoints comes from the routers of the services, so a new endpoint fails a test until it has a
 * line here.
 */
import { randomUUID } from 'node:crypto';
import { AuditTrail } from '@svc/auth';
import { MESSAGING_SERVICES, type PeopleList } from '@svc/contracts';
import { DeadLetters } from '@svc/messaging';
import { waitUntil } from '@svc/testing';
import { beginRestore, insertDeadLetter } from '../test/audit-log/administered-rows.js';
import { TwoMerchants } from '../test/hosted-callers.js';
import { addSecondFactor, ADMIN_KEY, type ApiResponse, type MainApi, startMainApi } from '../test/main-api.js';

interface AuditEntry {
  readonly service: string;
  readonly actor: string;
  readonly requestId: string;
  readonly action: string;
  readonly merchantId?: number;
  readonly before?: object;
  readonly after?: object;
}

/** Values for the parameters in the paths, by their names. */
type Ids = Readonly<Record<string, string>>;

interface ExpectedCall {
  readonly body?: (ids: Ids) => object;
  readonly query?: (ids: Ids) => string;
  /** The actions of the entries: one for each object that the call changes. */
  readonly actions: readonly string[];
  /** Creates the object that the call changes. Returns its ids. */
  readonly prepare?: () => Promise<Ids>;
}

/** Images of one pixel. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWPgqvUHAAFrANcaS7vpAAAAAElFTkSuQmCC',
  'base64',
);
const OTHER_LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWP4f4YBAASZAcxal6VyAAAAAElFTkSuQmCC',
  'base64',
);

let api: MainApi;
let ids: Ids;
let notified: { readonly id: string; readonly merchantId: string };
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  const merchants = await TwoMerchants.onboard(api);
  await merchants.createPaidSession('site 1');
  await waitUntil('a notification', 20_000, async () => {
    await api.relayAllEvents();
    const { notifications } = await api.administer('GET', '/notifications');
    const [first] = notifications as unknown as { id: string }[];
    if (first) notified = { id: first.id, merchantId: merchants.siteIds.get('site 1')!.merchantId };
    return first !== undefined;
  });
  ids = await createOwners();
  // Looks exist only for merchants that the gateway knows.
  await api.relayAllEvents();
});
afterAll(() => api?.stop());

async function createOwners(): Promise<Ids> {
  const { merchantId } = await api.administer('POST', '/merchants', { name: 'Merchant' });
  const path = `/merchants/${merchantId}/sites`;
  const { siteId } = await api.administer('POST', path, { name: 'Site', siteReference: randomUUID() });
  const { organisationId } = await api.administer('POST', '/organisations', { name: 'Wallet' });
  return { merchantId: String(merchantId), siteId: String(siteId), organisationId: organisationId! };
}

/** Creates a credential below a path, and returns its id under the name of the parameter. */
const createBelow = (path: string, parameter: string) => async (): Promise<Ids> => {
  const created = await api.administer('POST', fillPath(path, ids), { mode: 'live' });
  return { [parameter]: created[parameter]! };
};

/** Invites a person with a new email, and returns the email and the id of the invitation. */
const invite = async (): Promise<Ids> => {
  const email = `${randomUUID()}@shop.example`;
  const { invitationId } = await api.administer('POST', fillPath(`${MERCHANT}/people`, ids), { email, role: 'owner' });
  return { email, id: invitationId! };
};

/** A person with a new email, who has accepted an invitation. */
const createPerson = async (): Promise<Ids> => {
  const { email } = await invite();
  await api.administer('POST', '/people/sign-in-link', { email });
  const { people } = (await api.administer('GET', fillPath(`${MERCHANT}/people`, ids))) as unknown as PeopleList;
  return { id: people.find((person) => person.email === email)!.personId };
};

/** A new operator with the role viewer. */
const createOperator = async (): Promise<Ids> => {
  const email = `${randomUUID()}@platform.example`;
  await api.administer('POST', '/operators', { email, role: 'viewer' });
  await api.administer('POST', '/people/sign-in-link', { email });
  const { operators } = (await api.administer('GET', '/operators')) as unknown as {
    operators: { personId: string; email: string }[];
  };
  return { id: operators.find((operator) => operator.email === email)!.personId, email };
};

/** A new operator who may get a key, because there is a second factor. */
const createOperatorWithFactor = async (): Promise<Ids> => {
  const operator = await createOperator();
  await addSecondFactor(api, operator['id']!);
  return operator;
};
const operatorKey = ({ email }: Ids) => ({ email, role: 'viewer', days: 1 });

const MERCHANT = '/merchants/:merchantId';
const SITE = `${MERCHANT}/sites/:siteId`;
const ORGANISATION = '/organisations/:organisationId';
const liveKey = { body: () => ({ mode: 'live' }) };

const EXPECTED_CALLS: Readonly<Record<string, ExpectedCall>> = {
  'POST /merchants': { body: () => ({ name: 'New' }), actions: ['merchant.created'] },
  [`PATCH ${MERCHANT}`]: { body: () => ({ minimumAmount: 500 }), actions: ['merchant.changed'] },
  [`POST ${MERCHANT}/sites`]: {
    body: () => ({ name: 'New', siteReference: randomUUID() }),
    actions: ['site.created', 'webhook-secret.created', 'webhook-secret.created'],
  },
  [`PATCH ${SITE}`]: { body: () => ({ name: 'Renamed' }), actions: ['site.changed'] },
  [`POST ${MERCHANT}/keys`]: { ...liveKey, actions: ['api-key.created'], prepare: createOwners },
  [`DELETE ${MERCHANT}/keys/:keyId`]: {
    actions: ['api-key.revoked'],
    prepare: createBelow(`${MERCHANT}/keys`, 'keyId'),
  },
  [`POST ${SITE}/keys`]: { ...liveKey, actions: ['api-key.created'], prepare: createOwners },
  [`DELETE ${SITE}/keys/:keyId`]: { actions: ['api-key.revoked'], prepare: createBelow(`${SITE}/keys`, 'keyId') },
  [`POST ${SITE}/webhook-secrets`]: { ...liveKey, actions: ['webhook-secret.created'] },
  [`DELETE ${SITE}/webhook-secrets/:secretId`]: {
    actions: ['webhook-secret.revoked'],
    prepare: createBelow(`${SITE}/webhook-secrets`, 'secretId'),
  },
  [`POST ${MERCHANT}/people`]: {
    body: () => ({ email: `${randomUUID()}@shop.example`, role: 'owner' }),
    actions: ['invitation.created'],
  },
  [`DELETE ${MERCHANT}/people/:id`]: { actions: ['invitation.withdrawn'], prepare: invite },
  [`DELETE ${MERCHANT}/people/:id/second-factors`]: {
    actions: ['person.second-factors-reset'],
    prepare: createPerson,
  },
  'POST /people/sign-in-link': {
    body: ({ email }) => ({ email }),
    actions: ['invitation.accepted', 'person.sign-in-link-created'],
    prepare: invite,
  },
  'POST /operators': {
    body: () => ({ email: `${randomUUID()}@platform.example`, role: 'viewer' }),
    actions: ['operator-invitation.created'],
  },
  'PATCH /operators/:id': {
    body: () => ({ role: 'operator' }),
    actions: ['operator.role-changed'],
    prepare: createOperator,
  },
  'DELETE /operators/:id': { actions: ['operator.removed'], prepare: createOperator },
  'POST /operator-keys': {
    body: operatorKey,
    actions: ['operator-key.created'],
    prepare: createOperatorWithFactor,
  },
  'DELETE /operator-keys/:keyId': {
    actions: ['operator-key.revoked'],
    prepare: async () => {
      const { keyId } = await api.administer('POST', '/operator-keys', operatorKey(await createOperatorWithFactor()));
      return { keyId: keyId! };
    },
  },
  'POST /organisations': { body: () => ({ name: 'New' }), actions: ['organisation.created'] },
  [`PATCH ${ORGANISATION}`]: { body: () => ({ name: 'Renamed' }), actions: ['organisation.renamed'] },
  [`POST ${ORGANISATION}/keys`]: { ...liveKey, actions: ['partner-key.created'] },
  [`DELETE ${ORGANISATION}/keys/:keyId`]: {
    actions: ['partner-key.revoked'],
    prepare: createBelow(`${ORGANISATION}/keys`, 'keyId'),
  },
  [`POST ${ORGANISATION}/api-tokens`]: { ...liveKey, actions: ['api-token.created'] },
  [`DELETE ${ORGANISATION}/api-tokens/:tokenId`]: {
    actions: ['api-token.revoked'],
    prepare: createBelow(`${ORGANISATION}/api-tokens`, 'tokenId'),
  },
  'POST /token-keys': { actions: ['token-key.created'] },
  'DELETE /token-keys/:kid': {
    actions: ['token-key.withdrawn'],
    prepare: async () => {
      const { tokenKeys } = await api.administer('GET', '/token-keys');
      return { kid: (tokenKeys as unknown as { kid: string }[])[0]!.kid };
    },
  },
  'POST /card-keys': { actions: ['card-key.created'] },
  'POST /merchant-accounts': {
    body: ({ merchantId }) => ({ merchantId: Number(merchantId), mode: 'test', accountReference: 'MID-1' }),
    actions: ['merchant-account.set'],
  },
  'POST /velocity-limits': {
    body: ({ merchantId }) => ({ merchantId: Number(merchantId), mode: 'test', enabled: true }),
    actions: ['velocity-limits.set'],
  },
  'POST /velocity-counters/releases': {
    body: () => ({ address: '192.0.2.7' }),
    actions: ['velocity-counter.released'],
  },
  'POST /velocity-counters/blocks': {
    body: () => ({ address: '192.0.2.7', untilUTCDate: api.clock.later(3_600_000).toISOString() }),
    actions: ['velocity-counter.blocked'],
  },
  'PUT /looks/:merchantId': { body: () => ({ displayName: 'Karoo' }), actions: ['merchant-look.set'] },
  'PUT /looks/:merchantId/logo': { body: () => LOGO, actions: ['merchant-logo.set'] },
  'DELETE /looks/:merchantId/logo': {
    actions: ['merchant-logo.deleted'],
    prepare: async () => {
      const { merchantId } = ids;
      const headers = { 'x-admin-key': ADMIN_KEY, 'content-type': 'image/png' };
      await api.callAdmin({ method: 'PUT', path: `/admin/v1/looks/${merchantId!}/logo`, headers, body: OTHER_LOGO });
      return {};
    },
  },
  'POST /reconciliations': { body: () => ({}), actions: ['reconciliation.requested'] },
  'POST /restores/repair': { body: () => ({}), actions: ['restore.repaired'], prepare: () => beginRestore(api, false) },
  'POST /restores/open': {
    body: () => ({ acceptsDifferences: true }),
    actions: ['restore.opened'],
    prepare: () => beginRestore(api, true),
  },
  'POST /notifications/:id/replay': { actions: ['notification.replayed'] },
  'POST /notifications/replays': {
    body: () => ({ merchantId: Number(notified.merchantId), since: '2026-01-01T00:00:00Z' }),
    actions: ['notifications.replayed'],
  },
  'POST /history/rebuild': { actions: ['read-model.rebuild-begun'] },
  'POST /retrieval/rebuild': { actions: ['read-model.rebuild-begun'] },
  'POST /console/rebuild': { actions: ['read-model.rebuild-begun'] },
  ...Object.fromEntries(MESSAGING_SERVICES.flatMap(deadLetterCalls)),
};

function deadLetterCalls(service: string): [string, ExpectedCall][] {
  const path = `POST /dead-letters/${service}`;
  const prepare = async (): Promise<Ids> => ({ messageId: await insertDeadLetter(api, service) });
  return [
    [`${path}/:messageId/replay`, { actions: ['dead-letter.replayed'], prepare }],
    [`DELETE /dead-letters/${service}/:messageId`, { actions: ['dead-letter.dropped'], prepare }],
    [`${path}/replays`, { actions: ['dead-letters.replayed'], prepare: () => prepare().then(prepare) }],
    [
      `${path}/broker/replays`,
      {
        actions: ['dead-letters.replayed'],
        prepare: () => {
          const replay = (beforeFirst: () => Promise<void>) => beforeFirst().then(() => ({ replayed: 1, refused: 0 }));
          Object.assign(api.service(service).service.app.get(DeadLetters), { inBroker: { replay } });
          return Promise.resolve({});
        },
      },
    ],
  ];
}

const fillPath = (path: string, values: Ids): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? `missing-${name}`);

async function call(endpoint: string, values: Ids, adminKey = ADMIN_KEY): Promise<ApiResponse> {
  const [method, path] = endpoint.split(' ') as [string, string];
  const body = EXPECTED_CALLS[endpoint]!.body?.(values);
  return api.callAdmin({
    method,
    path: `/admin/v1${fillPath(path, values)}`,
    headers: { 'x-admin-key': adminKey, ...(Buffer.isBuffer(body) ? { 'content-type': 'image/png' } : {}) },
    ...(body ? { body } : {}),
  });
}

async function readAuditLog(): Promise<AuditEntry[]> {
  await api.relayAllEvents();
  const all: AuditEntry[] = [];
  for (let after = 0; ;) {
    const page = (await api.administer('GET', `/audit-log?after=${after}`)) as unknown as {
      entries: AuditEntry[];
      nextAfter: number;
    };
    if (page.entries.length === 0) return all;
    all.push(...page.entries);
    after = page.nextAfter;
  }
}
const entriesOf = async ({ headers }: ApiResponse): Promise<AuditEntry[]> =>
  (await readAuditLog()).filter(({ requestId }) => requestId === headers.get('x-request-id'));

const serviceOf = (endpoint: string): string =>
  endpoint.includes('/card-keys') ||
  endpoint.includes('/merchant-accounts') ||
  endpoint.includes('/velocity-') ||
  endpoint.includes('/reconciliations') ||
  endpoint.includes('/restores')
    ? 'payment-processor'
    : endpoint.includes('/looks')
      ? 'hosted-gateway'
      : endpoint.includes('/notifications')
        ? 'webhook-dispatcher'
        : endpoint.includes('/history')
          ? 'payment-history'
          : endpoint.includes('/retrieval')
            ? 'merchant-retrieval'
            : endpoint.includes('/console/')
              ? 'console'
              : (/dead-letters\/([\w-]+)/.exec(endpoint)?.[1] ?? 'identity');

test('every administration endpoint that changes or sends something is listed here', () => {
  const endpoints = api.adminEndpoints.filter(
    (endpoint) => / \/admin\//.test(endpoint) && !endpoint.startsWith('GET '),
  );
  expect(Object.keys(EXPECTED_CALLS).toSorted()).toEqual(
    endpoints.map((endpoint) => endpoint.replace('/admin/v1', '')).toSorted(),
  );
});

/** The tables that the endpoints change, by service. Every service has dead letters. */
const CHANGED_TABLES: Readonly<Record<string, readonly string[]>> = {
  'payment-processor': ['card_keys', 'merchant_accounts', 'reconciliations', 'restores', 'restore_repairs'],
  'hosted-gateway': ['merchant_looks', 'merchant_logos'],
  'webhook-dispatcher': ['notifications'],
  'payment-history': ['generations'],
  'merchant-retrieval': ['generations'],
  console: ['generations'],
};

const callsInOneTransaction = Object.keys(EXPECTED_CALLS).filter(
  (endpoint) => serviceOf(endpoint) !== 'identity' && !endpoint.endsWith('/broker/replays'),
);
test.each(callsInOneTransaction)('%s changes nothing if its entry cannot be written', async (endpoint) => {
  const { service, dataSource } = api.service(serviceOf(endpoint));
  const readTables = async (): Promise<unknown> =>
    Promise.all(
      [...(CHANGED_TABLES[service.name] ?? []), 'dead_letters'].map((table) =>
        dataSource.query(`SELECT to_jsonb(each) AS row FROM ${table} AS each ORDER BY 1`),
      ),
    );
  const values = { ...ids, id: notified.id, ...(await EXPECTED_CALLS[endpoint]!.prepare?.()) };
  const before = await readTables();
  const append = jest.spyOn(service.app.get(AuditTrail), 'append').mockRejectedValue(new Error('full disk'));
  await call(endpoint, values);
  expect(append).toHaveBeenCalled();
  append.mockRestore();
  expect(await readTables()).toEqual(before);
});

describe.each(Object.entries(EXPECTED_CALLS))('%s', (endpoint, { actions, prepare }) => {
  test('has an entry in the audit log for each changed object, with the actor and the service', async () => {
    const values = { ...ids, id: notified.id, ...(await prepare?.()) };
    const response = await call(endpoint, values);
    expect([response.status < 300, response.text]).toEqual([true, response.text]);
    const entries = await entriesOf(response);
    expect(entries.map(({ action }) => action)).toEqual(actions);
    for (const { actor, service } of entries)
      expect({ actor, service }).toEqual({
        actor: expect.stringMatching(/^admin:[0-9a-f]{16}$/),
        service: serviceOf(endpoint),
      });
  });

  test('has no entry for a call that is rejected', async () => {
    const unauthorised = await call(endpoint, { ...ids, id: notified.id }, 'not the administration key');
    expect(unauthorised.status).toBe(401);
    const unknown = { merchantId: '999', siteId: '999', organisationId: randomUUID(), id: randomUUID() };
    const needsObject = /:\w+/.test(endpoint);
    const rejected = needsObject
      ? await call(endpoint, {
          ...unknown,
          keyId: randomUUID(),
          secretId: randomUUID(),
          tokenId: randomUUID(),
          kid: randomUUID(),
          messageId: randomUUID(),
        })
      : unauthorised;
    expect([401, 404]).toContain(rejected.status);
    expect([...(await entriesOf(unauthorised)), ...(await entriesOf(rejected))]).toEqual([]);
  });
});
