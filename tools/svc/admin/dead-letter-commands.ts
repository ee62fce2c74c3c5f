import { SERVICES } from '../base/settings.ts';
import type { Administration } from './administration.ts';
import { type AdminCommand, type Input, parameter, segment, wrongInput } from './command.ts';

interface Page {
  readonly deadLetters: readonly unknown[];
  readonly after: string | null;
}

interface Replayed {
  readonly replayed: number;
  readonly failed: number;
  readonly after: string | null;
}

interface InBroker {
  readonly count: number;
  readonly countMax: number;
  readonly oldest: object | null;
}

/** Those that consume events; each keeps its own dead letters. */
const CONSUMERS: readonly string[] = SERVICES.filter((service) => service !== 'demo-shop');

/** Messages that a service gave up on after five deliveries, and having them handled again once the cause is mended. */
export const deadLetterCommands: readonly AdminCommand[] = [
  {
    name: 'dead-letters list',
    parameters: ['service'],
    options: { type: 'text', all: 'flag' },
    summary: 'the newest 200 messages that a service gave up on, and why; --all for every one',
    run: list,
  },
  {
    name: 'dead-letters replay',
    parameters: ['service', 'messageId'],
    summary: 'has one handled again, now; it is gone when that succeeds',
    run: (api, input) => api.call('POST', `/dead-letters/${serviceOf(input)}/${segment(parameter(input, 1))}/replay`),
  },
  {
    name: 'dead-letters replay-all',
    parameters: ['service'],
    options: { type: 'text' },
    summary: 'has all of them, or all of a type, handled again; those that fail again stay',
    run: replayAll,
  },
  {
    name: 'dead-letters broker',
    parameters: ['service'],
    summary: 'how many messages RabbitMQ itself gave up on, and the oldest',
    run: async (api, input) => {
      const { count, countMax, oldest } = (await api.call('GET', pathOf(input, '/broker', null))) as InBroker;
      return { count, countMax, ...oldest };
    },
  },
  {
    name: 'dead-letters broker-replay',
    parameters: ['service'],
    summary: 'has all of those handled; those that are refused stay',
    run: replayFromBroker,
  },
];

async function list(api: Administration, input: Input): Promise<unknown[]> {
  const letters: unknown[] = [];
  let after: string | null = null;
  do {
    const page = (await api.call('GET', pathOf(input, '', after))) as Page;
    letters.push(...page.deadLetters);
    ({ after } = page);
  } while (after !== null && input.options['all'] === true);
  return letters;
}

/** Page after page: a page that fails stays, and the next one begins behind it. */
async function replayAll(api: Administration, input: Input): Promise<{ replayed: number; failed: number }> {
  const sum = { replayed: 0, failed: 0 };
  let after: string | null = null;
  do {
    const page = (await api.call('POST', pathOf(input, '/replays', after))) as Replayed;
    sum.replayed += page.replayed;
    sum.failed += page.failed;
    ({ after } = page);
  } while (after !== null);
  return sum;
}

/** Page after page, for as long as any of them is of use. */
async function replayFromBroker(api: Administration, input: Input): Promise<{ replayed: number; refused: number }> {
  const sum = { replayed: 0, refused: 0 };
  for (let page = { replayed: 1, refused: 0 }; page.replayed > 0;) {
    page = (await api.call('POST', pathOf(input, '/broker/replays', null))) as typeof page;
    sum.replayed += page.replayed;
    sum.refused = page.refused;
  }
  return sum;
}

function pathOf(input: Input, what: string, after: string | null): string {
  const query = new URLSearchParams();
  if (typeof input.options['type'] === 'string') query.set('type', input.options['type']);
  if (after !== null) query.set('after', after);
  return `/dead-letters/${serviceOf(input)}${what}${query.size > 0 ? `?${query}` : ''}`;
}

function serviceOf(input: Input): string {
  const service = parameter(input, 0);
  if (!CONSUMERS.includes(service)) throw wrongInput(`"${service}" keeps no dead letters: ${CONSUMERS.join(', ')} do`);
  return service;
}
