/**
 * Part `console` of the benchmark: what people do in the console of a merchant with a million payments (`--scale`: less),
 * beside a thousand other merchants. Each request is one page over HTTP, as a person who is signed in.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { newPaymentReference } from '@svc/kernel';
import { connectForDemo, createSignInLink, DEMO_OWNER } from '../../tools/svc/demo/seed.ts';
import type { PartOptions } from '../main.ts';
import { computePercentiles } from '../measuring/percentiles.ts';
import { newPlatform, type RunningPlatform } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { seedConsole, type SeededPayment } from './seed-console.ts';

const PAYMENTS = 1_000_000;
const PAGE_SIZE = 50;
/** The page after this many pages is reached by its position, as the link "Older payments" does. */
const LATE_PAGE = 1_000;
const SECONDS_BETWEEN_PAYMENTS = 8;
/** Each page is requested this many times in each round, for each second of the option `--seconds`. */
const REQUESTS_PER_SECOND = 4;
const WARM_UP_REQUESTS = 20;
const PAUSE_AFTER_FILE_MS = 100;
/** A person feels a page as immediate. */
const MAX_P99_MS = 100;

interface PageRequest {
  readonly name: string;
  readonly path: string;
  /** How many orders the page must list; undefined for a page that is no list. */
  readonly orders?: number;
  readonly ms: number[];
}

export async function measureConsole({ rounds, seconds, scale, log }: PartOptions): Promise<Section> {
  const running = await newPlatform('embedded').start();
  try {
    const { merchantId, sites } = running.demo.roastery;
    const payments = Math.round(PAYMENTS * scale);
    const startedAt = performance.now();
    const seeded = await seedConsole(
      running.sql,
      merchantId,
      sites.map(({ siteId }) => siteId),
      payments,
    );
    log(`${payments} payments written in ${toThreeDigits((performance.now() - startedAt) / 1_000)} s`);
    const cookie = await signIn(running);
    const requests = newRequests(merchantId, sites[0]!.siteId, seeded);
    const problems = new Set<string>();
    const measure = async (request: PageRequest): Promise<number> => {
      const { durationMs, problem } = await requestPage(`${running.demo.consoleUrl}${request.path}`, cookie, request);
      if (problem !== undefined) problems.add(`${request.name}: ${problem}`);
      return durationMs;
    };
    for (let i = 0; i < WARM_UP_REQUESTS; i++) for (const request of requests) await measure(request);
    // The pages take turns, so that other load on the machine affects all of them alike.
    for (let i = 0; i < rounds * seconds * REQUESTS_PER_SECOND; i++)
      for (const request of requests) request.ms.push(await measure(request));
    return newSection(requests, payments, [...problems]);
  } finally {
    await running.stop();
  }
}

/** As the person who opens the link that `./svc up` prints. */
async function signIn({ demo }: RunningPlatform): Promise<string> {
  const path = await createSignInLink(connectForDemo(demo.adminUrl, demo.adminKey), DEMO_OWNER);
  const response = await fetch(`${demo.consoleUrl}${path}`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    redirect: 'manual',
  });
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
  if (cookie === undefined) throw new Error(`The sign-in was answered with ${response.status}.`);
  return cookie;
}

function newRequests(merchantId: number, siteId: number, seeded: SeededPayment): PageRequest[] {
  const list = `/${merchantId}/test/payments`;
  const { number, paymentReference, payableId } = seeded;
  const search = (name: string, text: string, orders?: number): readonly [string, string, (number | undefined)?] => [
    `search: ${name}`,
    `${list}?q=${encodeURIComponent(text)}`,
    orders,
  ];
  const late = Date.now() - LATE_PAGE * PAGE_SIZE * SECONDS_BETWEEN_PAYMENTS * 1_000;
  const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  const pages: (readonly [string, string, (number | undefined)?])[] = [
    ['today, with the chart', `/${merchantId}/test`],
    ['list, page 1', list, PAGE_SIZE],
    [`list, page ${LATE_PAGE}`, `${list}?after=${late}_${newPaymentReference(new Date(late))}`, PAGE_SIZE],
    ['list of a site', `${list}?site=${siteId}`, PAGE_SIZE],
    ['list of a day', `${list}?from=${weekAgo}&to=${weekAgo}`, PAGE_SIZE],
    ['list of failed payments', `${list}?state=failed`, PAGE_SIZE],
    ['list of payments that wait for the payer', `${list}?state=verificationRequired`],
    ['list of vouchers', `${list}?method=Voucher`, PAGE_SIZE],
    search('order', `order-${number}`, 1),
    search('reference', paymentReference, 1),
    search('session', payableId, 1),
    search('code', String(number).padStart(20, '7'), 1),
    search('customer', `Nomsa ${number}`, 1),
    search('amount', '123.45'),
    search('card', '**** 4242'),
    search('no match', 'no such order', 0),
    ['a payment', `${list}/${paymentReference}`],
    ['CSV, first rows', `${list}.csv`],
  ];
  return pages.map(([name, path, orders]) => ({ name, path, ms: [], ...(orders === undefined ? {} : { orders }) }));
}

async function requestPage(
  url: string,
  cookie: string,
  { orders, path }: PageRequest,
): Promise<{ durationMs: number; problem: string | undefined }> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers: { cookie, 'accept-language': 'en' } });
  const text = path.endsWith('.csv') ? await readFirstRows(response) : await response.text();
  const durationMs = performance.now() - startedAt;
  // The console has already begun to write the next lines of the file.
  if (path.endsWith('.csv')) await pause(PAUSE_AFTER_FILE_MS);
  if (response.status !== 200) return { durationMs, problem: `status ${response.status}` };
  const found = text.match(/class="order"/g)?.length ?? 0;
  const problem = orders === undefined || found === orders ? undefined : `${found} payments instead of ${orders}`;
  return { durationMs, problem };
}

/** Reads until the first payments have arrived, then closes the connection. */
async function readFirstRows(response: Response): Promise<string> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split('\r\n').length > PAGE_SIZE) break;
  }
  return text;
}

function newSection(requests: readonly PageRequest[], payments: number, problems: string[]): Section {
  return {
    title: `The console with ${payments} payments of a merchant`,
    tables: [
      {
        title: 'Milliseconds for a page, over HTTP, the session checked',
        columns: ['', 'p50', 'p99', 'requests'],
        rows: requests.map(({ name, ms }) => {
          const { p50, p99, count } = computePercentiles(ms);
          return [name, toThreeDigits(p50), toThreeDigits(p99), String(count)];
        }),
      },
    ],
    figures: [
      {
        name: 'slowest page, p99',
        value: Math.max(...requests.map(({ ms }) => computePercentiles(ms).p99)),
        unit: 'ms',
        promised: MAX_P99_MS,
        direction: 'most',
      },
    ],
    problems,
    data: requests,
  };
}
