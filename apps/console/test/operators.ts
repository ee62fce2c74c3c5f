import { ADMINISTRATION_COMMANDS, type AdministrationRequest } from '@svc/contracts';
import type { TestConsole } from './console.js';

/** A request of the administration API that a page has sent, without its author. */
export type SentRequest = Pick<AdministrationRequest, 'method' | 'path'> & { readonly body?: unknown };

/** A status with its body, or only the body of a success. */
type WholeAnswer = { readonly statusCode: number; readonly body: object };
type Answer = WholeAnswer | object;

const isWhole = (answer: Answer): answer is WholeAnswer => 'statusCode' in answer && 'body' in answer;

/** The answer of each route of the administration API, by `METHOD /path`, without the query. */
const ANSWERS: Readonly<Record<string, object>> = {
  'GET /open-cases': { cases: [] },
  'GET /refunds': { refunds: [] },
  'GET /disputes': { disputes: [] },
  'GET /reconciliations': { reconciliations: [] },
  'GET /notifications/circuits': { circuits: [] },
  'GET /audit-log': { entries: [], nextAfter: 0 },
  'GET /merchants': { merchants: [] },
  'GET /organisations': { organisations: [] },
  'POST /merchants': { merchantId: 1 },
  'POST /organisations': { organisationId: '019ca8d7-25ab-777e-8b20-51e25d3ed4e3' },
};

const BY_PATTERN: readonly (readonly [RegExp, object])[] = [
  [
    /^GET \/status\/(?<service>.+)$/,
    {
      version: '1.2.3',
      startedUTCDate: '2026-03-01T09:00:00.000Z',
      relayAgeSeconds: 7,
      deadLetters: 3,
      deferred: 0,
      broker: 'connected',
    },
  ],
  [/^GET \/dead-letters\/[a-z-]+$/, { deadLetters: [], after: null }],
  [/^POST \/dead-letters\/[a-z-]+\/replays$/, { replayed: 2, failed: 1, after: null }],
  [
    /^GET \/reconciliations\/.+$/,
    { day: '2026-02-10', merchantId: null, state: 'done', watermark: null, result: null, failure: null },
  ],
  [
    /^GET \/merchants\/\d+$/,
    {
      ...{ merchantId: 1_000_001, name: 'Karoo Books', createdUTCDate: '2026-01-05T08:00:00.000Z', minimumAmount: 100 },
      ...{
        maximumAmount: null,
        features: {},
        grants: [],
        fees: {},
        timeZones: [{ zone: 'Africa/Johannesburg' }],
        sites: [],
      },
    },
  ],
  [/^GET \/merchant-accounts$/, { merchantAccounts: [], acquirers: { test: ['simulated'], live: [] } }],
  [
    /^GET \/organisations\/[^/]+$/,
    { organisationId: 'o', name: 'Bank app', createdUTCDate: '2026-01-05T08:00:00.000Z' },
  ],
  [/^GET \/organisations\/[^/]+\/keys$/, { keys: [] }],
  [/^GET \/organisations\/[^/]+\/api-tokens$/, { apiTokens: [] }],
];

/**
 * Answers the administration API in place of the other services, and records its requests. `answers` has precedence;
 * a route without an answer has the status 204 for a change, and 404 otherwise.
 */
export async function answerAdministration(
  app: TestConsole,
  answers: Readonly<Record<string, Answer>> = {},
): Promise<(SentRequest & { readonly personId: string; readonly mayChange: boolean })[]> {
  const sent: (SentRequest & { personId: string; mayChange: boolean })[] = [];
  // The console itself answers the requests that are for it.
  const { console: _, ...others } = ADMINISTRATION_COMMANDS;
  for (const command of Object.values(others))
    await app.respondTo(command, ({ operator, method, path, body }) => {
      sent.push({ ...operator, method, path, ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }) });
      const route = `${method} ${path.split('?')[0]!}`;
      const answer: Answer | undefined =
        answers[route] ?? ANSWERS[route] ?? BY_PATTERN.find(([pattern]) => pattern.test(route))?.[1];
      if (answer === undefined) return reply(method === 'GET' ? 404 : 204);
      return isWhole(answer) ? reply(answer.statusCode, answer.body) : reply(200, answer);
    });
  return sent;
}

function reply(statusCode: number, body?: object) {
  return { ok: true as const, reply: { statusCode, body: body === undefined ? '' : JSON.stringify(body) } };
}
