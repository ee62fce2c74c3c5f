/** Part `history`: what a page far back in a history of a million payments costs against the first one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentHistory } from '@svc/contracts';
import { platform, ROOT } from '../platforms/platform.ts';
import type { PartOptions } from '../main.ts';
import { percentilesOf } from '../measuring/percentiles.ts';
import { rounded, type Section } from '../report.ts';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import { seedHistory } from './seed-history.ts';

const PAYMENTS = 1_000_000;
const PAGE_SIZE = 50;
const FIRST = 1;
const LAST = PAYMENTS / PAGE_SIZE;
/** A page may cost so many times what the first one costs. */
const AT_MOST = 1.5;
const REQUESTS_PER_SECOND_OF_STEP = 40;
const WARM_UP = 30;

interface Asked {
  readonly whose: string;
  readonly page: number;
  readonly query: string;
  readonly ms: number[];
}

export async function measureHistory({ rounds, seconds, say }: PartOptions): Promise<Section> {
  const running = await platform('embedded').start(0);
  try {
    const demo = JSON.parse(readFileSync(join(ROOT, '.data', 'bench', 'embedded', 'demo.json'), 'utf8')) as Demo;
    const [customer] = demo.customers ?? [];
    if (!demo.partner || !customer) throw new Error('The platform has no partner to be measured with.');
    const { organisationId } = demo.partner;
    const seeded = await seedHistory(running.sql, organisationId, customer.customerReference, PAYMENTS);
    say(`${PAYMENTS} payments are there after ${rounded(seeded)} s`);

    const headers = await logIn(demo.apiUrl, demo.partner);
    const asked: Asked[] = ['', `&customerReference=${customer.customerReference}`].flatMap((more) =>
      [FIRST, 100, LAST].map((page) => ({
        whose: more === '' ? 'of an organisation' : 'of one customer',
        page,
        query: `?page=${page}&pageSize=${PAGE_SIZE}${more}`,
        ms: [],
      })),
    );
    const problems: string[] = [];
    const ask = async ({ query, page }: Asked): Promise<number> => {
      const from = performance.now();
      const answer = await fetch(`${demo.apiUrl}/v1/payments${query}`, { headers });
      const text = await answer.text();
      const took = performance.now() - from;
      const problem = answer.status === 200 ? problemOf(JSON.parse(text) as PaymentHistory, page) : `${answer.status}`;
      if (problem !== undefined) problems.push(`${query}: ${problem}`);
      return took;
    };
    for (let i = 0; i < WARM_UP; i++) for (const one of asked) await ask(one);
    // Taking turns, so that whatever else the machine does is spread over all of them.
    for (let i = 0; i < rounds * seconds * REQUESTS_PER_SECOND_OF_STEP; i++)
      for (const one of asked) one.ms.push(await ask(one));
    return section(asked, [...new Set(problems)]);
  } finally {
    await running.stop();
  }
}

/** The newest payment is number 0; each page says exactly which ones belong on it. */
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

function section(asked: readonly Asked[], problems: string[]): Section {
  const at = (whose: string, page: number): number =>
    percentilesOf(asked.find((one) => one.whose === whose && one.page === page)!.ms).p50;
  return {
    title: 'A page of the history, of a million payments',
    tables: [
      {
        title: `Milliseconds for a page of ${PAGE_SIZE}, over HTTP, key and token checked`,
        columns: ['', 'page', 'p50', 'p95', 'p99', 'requests'],
        rows: asked.map(({ whose, page, ms }) => {
          const { p50, p95, p99, count } = percentilesOf(ms);
          return [whose, String(page), rounded(p50), rounded(p95), rounded(p99), String(count)];
        }),
      },
    ],
    plots: [],
    figures: [...new Set(asked.map(({ whose }) => whose))].map((whose) => ({
      name: `page ${LAST} against page 1, ${whose}`,
      value: at(whose, LAST) / at(whose, FIRST),
      unit: '',
      promised: AT_MOST,
      direction: 'most' as const,
    })),
    problems,
    data: asked,
  };
}
