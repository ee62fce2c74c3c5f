/**
 * Part `history` of the benchmark: compares the cost of the last page of a million payments with the cost of the first
 * page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentHistory } from '@svc/contracts';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import type { PartOptions } from '../main.ts';
import { computePercentiles } from '../measuring/percentiles.ts';
import { newPlatform, ROOT } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { seedHistory } from './seed-history.ts';

const PAYMENTS = 1_000_000;
const PAGE_SIZE = 50;
const FIRST_PAGE = 1;
const LAST_PAGE = PAYMENTS / PAGE_SIZE;
/** The last page may cost at most this many times as much as the first page. */
const MAX_RATIO = 1.5;
/** Each query is sent this many times in each round, for each second of the option `--seconds`. */
const REQUESTS_PER_SECOND = 40;
const WARM_UP_REQUESTS = 30;

/** A query for one page, and the durations of its requests in milliseconds. */
interface PageQuery {
  readonly scope: string;
  readonly page: number;
  readonly query: string;
  readonly ms: number[];
}

export async function measureHistory({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const running = await newPlatform('embedded').start();
  try {
    const demo = JSON.parse(readFileSync(join(ROOT, '.data', 'bench', 'embedded', 'demo.json'), 'utf8')) as Demo;
    const [customer] = demo.customers ?? [];
    if (!demo.partner || !customer) throw new Error('The demo data contain no partner with a customer.');
    const { organisationId } = demo.partner;
    const seedSeconds = await seedHistory(running.sql, organisationId, customer.customerReference, PAYMENTS);
    log(`${PAYMENTS} payments written in ${toThreeDigits(seedSeconds)} s`);

    const headers = await logIn(demo.apiUrl, demo.partner);
    const queries: PageQuery[] = ['', `&customerReference=${customer.customerReference}`].flatMap((filter) =>
      [FIRST_PAGE, 100, LAST_PAGE].map((page) => ({
        scope: filter === '' ? 'of an organisation' : 'of one customer',
        page,
        query: `?page=${page}&pageSize=${PAGE_SIZE}${filter}`,
        ms: [],
      })),
    );
    const problems: string[] = [];
    const measureQuery = async ({ query, page }: PageQuery): Promise<number> => {
      const startedAt = performance.now();
      const response = await fetch(`${demo.apiUrl}/v1/payments${query}`, { headers });
      const text = await response.text();
      const durationMs = performance.now() - startedAt;
      const problem =
        response.status === 200 ? findProblem(JSON.parse(text) as PaymentHistory, page) : `${response.status}`;
      if (problem !== undefined) problems.push(`${query}: ${problem}`);
      return durationMs;
    };
    for (let i = 0; i < WARM_UP_REQUESTS; i++) for (const query of queries) await measureQuery(query);
    // The queries take turns, so that other load on the machine affects all of them alike.
    for (let i = 0; i < rounds * seconds * REQUESTS_PER_SECOND; i++)
      for (const query of queries) query.ms.push(await measureQuery(query));
    return newSection(queries, [...new Set(problems)]);
  } finally {
    await running.stop();
  }
}

/**
 * Describes why a page is wrong. The seeded payments are numbered from 0, the newest first, so the number of a page
 * determines the numbers of its payments.
 */
function findProblem({ payments, previousPage, nextPage }: PaymentHistory, page: number): string | undefined {
  const numbers = payments.map(({ invoiceExternalReference }) => Number(invoiceExternalReference));
  const expected = Array.from({ length: PAGE_SIZE }, (_, index) => (page - 1) * PAGE_SIZE + index);
  if (numbers.join() !== expected.join())
    return `it contains ${numbers.length} payments, number ${numbers[0]} to ${numbers.at(-1)}`;
  if ((previousPage === undefined) !== (page === FIRST_PAGE) || (nextPage === undefined) !== (page === LAST_PAGE))
    return `its links are ${previousPage} and ${nextPage}`;
  return undefined;
}

async function logIn(apiUrl: string, { apiKey, organisationId, apiToken }: NonNullable<Demo['partner']>) {
  const response = await fetch(`${apiUrl}/v1/auth/service/login`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ organisationId, apiToken }),
  });
  const { identityToken } = (await response.json()) as { identityToken: string };
  return { 'x-api-key': apiKey, authorization: `Bearer ${identityToken}` };
}

function newSection(queries: readonly PageQuery[], problems: string[]): Section {
  const medianMs = (scope: string, page: number): number =>
    computePercentiles(queries.find((query) => query.scope === scope && query.page === page)!.ms).p50;
  return {
    title: 'A page of the history, of a million payments',
    tables: [
      {
        title: `Milliseconds for a page of ${PAGE_SIZE}, over HTTP, key and token checked`,
        columns: ['', 'page', 'p50', 'p95', 'p99', 'requests'],
        rows: queries.map(({ scope, page, ms }) => {
          const { p50, p95, p99, count } = computePercentiles(ms);
          return [scope, String(page), toThreeDigits(p50), toThreeDigits(p95), toThreeDigits(p99), String(count)];
        }),
      },
    ],
    figures: [...new Set(queries.map(({ scope }) => scope))].map((scope) => ({
      name: `page ${LAST_PAGE} against page 1, ${scope}`,
      value: medianMs(scope, LAST_PAGE) / medianMs(scope, FIRST_PAGE),
      unit: '',
      promised: MAX_RATIO,
      direction: 'most' as const,
    })),
    problems,
    data: queries,
  };
}
