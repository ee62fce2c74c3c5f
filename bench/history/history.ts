/** Part `history`: the cost of the last page of a million payments, compared with the first page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentHistory } from '@svc/contracts';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import type { PartOptions } from '../main.ts';
import { percentilesOf } from '../measuring/percentiles.ts';
import { platform, ROOT } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { seedHistory } from './seed-history.ts';

const PAYMENTS = 1_000_000;
const PAGE_SIZE = 50;
const FIRST = 1;
const LAST = PAYMENTS / PAGE_SIZE;
/** The last page may cost at most this many times as much as the first one. */
const MAX_RATIO = 1.5;
const REQUESTS_PER_SECOND_OF_STEP = 40;
const WARM_UP = 30;

interface PageQuery {
  readonly scope: string;
  readonly page: number;
  readonly query: string;
  readonly ms: number[];
}

export async function measureHistory({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const running = await platform('embedded').start(0);
  try {
    const demo = JSON.parse(readFileSync(join(ROOT, '.data', 'bench', 'embedded', 'demo.json'), 'utf8')) as Demo;
    const [customer] = demo.customers ?? [];
    if (!demo.partner || !customer) throw new Error('The platform has no partner to be measured with.');
    const { organisationId } = demo.partner;
    const seeded = await seedHistory(running.sql, organisationId, customer.customerReference, PAYMENTS);
    log(`${PAYMENTS} payments written in ${toThreeDigits(seeded)} s`);

    const headers = await logIn(demo.apiUrl, demo.partner);
    const queries: PageQuery[] = ['', `&customerReference=${customer.customerReference}`].flatMap((filter) =>
      [FIRST, 100, LAST].map((page) => ({
        scope: filter === '' ? 'of an organisation' : 'of one customer',
        page,
        query: `?page=${page}&pageSize=${PAGE_SIZE}${filter}`,
        ms: [],
      })),
    );
    const problems: string[] = [];
    const measureQuery = async ({ query, page }: PageQuery): Promise<number> => {
      const from = performance.now();
      const answer = await fetch(`${demo.apiUrl}/v1/payments${query}`, { headers });
      const text = await answer.text();
      const took = performance.now() - from;
      const problem = answer.status === 200 ? problemOf(JSON.parse(text) as PaymentHistory, page) : `${answer.status}`;
      if (problem !== undefined) problems.push(`${query}: ${problem}`);
      return took;
    };
    for (let i = 0; i < WARM_UP; i++) for (const one of queries) await measureQuery(one);
    // In turns, so that other load on the machine affects all queries alike.
    for (let i = 0; i < rounds * seconds * REQUESTS_PER_SECOND_OF_STEP; i++)
      for (const one of queries) one.ms.push(await measureQuery(one));
    return section(queries, [...new Set(problems)]);
  } finally {
    await running.stop();
  }
}

/** The newest payment has number 0, so the payments that belong on each page are known. */
function problemOf({ payments, previousPage, nextPage }: PaymentHistory, page: number): string | undefined {
  const numbers = payments.map(({ invoiceExternalReference }) => Number(invoiceExternalReference));
  const expected = Array.from({ length: PAGE_SIZE }, (_, index) => (page - 1) * PAGE_SIZE + index);
  if (numbers.join() !== expected.join())
    return `payments ${numbers[0]} to ${numbers.at(-1)}, ${numbers.length} of them`;
  if ((previousPage === undefined) !== (page === FIRST) || (nextPage === undefined) !== (page === LAST))
    return `links ${previousPage} and ${nextPage}`;
  return undefined;
}

async function logIn(apiUrl: string, { apiKey, organisationId, apiToken }: NonNullable<Demo['partner']>) {
  const answer = await fetch(`${apiUrl}/v1/auth/service/login`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ organisationId, apiToken }),
  });
  const { identityToken } = (await answer.json()) as { identityToken: string };
  return { 'x-api-key': apiKey, authorization: `Bearer ${identityToken}` };
}

function section(queries: readonly PageQuery[], problems: string[]): Section {
  const at = (scope: string, page: number): number =>
    percentilesOf(queries.find((one) => one.scope === scope && one.page === page)!.ms).p50;
  return {
    title: 'A page of the history, of a million payments',
    tables: [
      {
        title: `Milliseconds for a page of ${PAGE_SIZE}, over HTTP, key and token checked`,
        columns: ['', 'page', 'p50', 'p95', 'p99', 'requests'],
        rows: queries.map(({ scope, page, ms }) => {
          const { p50, p95, p99, count } = percentilesOf(ms);
          return [scope, String(page), toThreeDigits(p50), toThreeDigits(p95), toThreeDigits(p99), String(count)];
        }),
      },
    ],
    plots: [],
    figures: [...new Set(queries.map(({ scope }) => scope))].map((scope) => ({
      name: `page ${LAST} against page 1, ${scope}`,
      value: at(scope, LAST) / at(scope, FIRST),
      unit: '',
      promised: MAX_RATIO,
      direction: 'most' as const,
    })),
    problems,
    data: queries,
  };
}
