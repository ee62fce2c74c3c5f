/**
 * Part `retrieval` of the benchmark: compares the cost of a look-up for a merchant with a million payments and for a
 * merchant with a thousand. The payment is inside or outside the window of time in which merchant-retrieval finds
 * payments. Also measures how soon a new payment is found and sent on the stream, at half of the maximum load.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import type { PartOptions } from '../main.ts';
import { computePercentiles } from '../measuring/percentiles.ts';
import { newPlatform, ROOT } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { type SeededMerchant, seedRetrieval } from './seed-retrieval.ts';
import { MAX_VISIBILITY_MS, measureVisibility, type Visibility } from './visibility.ts';

const FEW_PAYMENTS = 1_000;
const MANY_PAYMENTS = 1_000_000;
/** A look-up among a million payments may cost at most this many times as much as a look-up among a thousand. */
const MAX_RATIO = 1.5;
/** Each look-up is sent this many times in each round, for each second of the option `--seconds`. */
const REQUESTS_PER_SECOND = 20;
const WARM_UP_REQUESTS = 30;

/** A look-up of one payment, and the durations of its requests in milliseconds. */
interface LookUp {
  readonly endpoint: string;
  /** Whether the payment is inside the window. */
  readonly isInsideWindow: boolean;
  /** Number of payments of the merchant. */
  readonly paymentCount: number;
  readonly path: string;
  readonly apiKey: string;
  /** The payment that the look-up must find. Undefined if it must find none. */
  readonly expectedReference: string | undefined;
  readonly ms: number[];
}

export async function measureRetrieval({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const settings = { SVC_RETRIEVAL_CALLS_PER_SECOND: '100000', SVC_RETRIEVAL_BURST: '100000' };
  const running = await newPlatform('embedded', { settings }).start();
  try {
    const visibility = await measureVisibility(running, readDemo(), seconds);
    log(
      `found after ${toThreeDigits(visibility.found.p99)} ms, streamed after ${toThreeDigits(visibility.streamed.p99)} ms (p99)`,
    );

    // The first merchant also has the payments of the visibility measurement.
    const [largeMerchant, smallMerchant] = readDemo().merchants;
    if (!smallMerchant || !largeMerchant) throw new Error('The demo data do not contain two merchants.');
    const lookUps: LookUp[] = [];
    for (const { merchant, payments } of [
      { merchant: smallMerchant, payments: FEW_PAYMENTS },
      { merchant: largeMerchant, payments: MANY_PAYMENTS },
    ]) {
      const owner = { merchantId: merchant.merchantId, siteId: merchant.sites[0]!.siteId };
      const seeded = await seedRetrieval(running.sql, owner, payments);
      log(`${payments} payments written in ${toThreeDigits(seeded.seconds)} s`);
      lookUps.push(...newLookUps(merchant, payments, seeded));
    }
    await running.sql('VACUUM ANALYZE merchant_retrieval.payments');

    const problems = [...visibility.problems];
    const pool = new Pool(readDemo().apiUrl, { connections: 1 });
    const measureLookUp = async ({ path, apiKey, expectedReference }: LookUp): Promise<number> => {
      const startedAt = performance.now();
      const response = await pool.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
      const text = await response.body.text();
      const durationMs = performance.now() - startedAt;
      const foundPayments = response.statusCode === 200 ? (JSON.parse(text) as { paymentReference: string }[]) : [];
      if (
        response.statusCode !== 200 ||
        foundPayments.map(({ paymentReference }) => paymentReference).join() !== (expectedReference ?? '')
      )
        problems.push(`${path}: ${response.statusCode}, ${foundPayments.length} payments`);
      return durationMs;
    };
    for (let i = 0; i < WARM_UP_REQUESTS; i++) for (const lookUp of lookUps) await measureLookUp(lookUp);
    // The look-ups take turns, so that other load on the machine affects all of them alike.
    for (let i = 0; i < rounds * seconds * REQUESTS_PER_SECOND; i++)
      for (const lookUp of lookUps) lookUp.ms.push(await measureLookUp(lookUp));
    await pool.close();
    return newSection(lookUps, visibility, [...new Set(problems)]);
  } finally {
    await running.stop();
  }
}

function readDemo(): Demo {
  return JSON.parse(readFileSync(join(ROOT, '.data', 'bench', 'embedded', 'demo.json'), 'utf8')) as Demo;
}

function newLookUps(
  { merchantId, apiKey, sites }: Demo['merchants'][number],
  paymentCount: number,
  seeded: SeededMerchant,
): LookUp[] {
  const [site] = sites;
  if (!site) throw new Error('The merchant has no site.');
  const owners = [
    { level: 'merchant', base: `/business/api/v1/merchants/${merchantId}`, apiKey },
    { level: 'site', base: `/business/api/v1/merchants/${merchantId}/sites/${site.siteId}`, apiKey: site.apiKey },
  ];
  return owners.flatMap(({ level, base, apiKey: key }) =>
    [true, false].flatMap((isInsideWindow) => {
      const { invoiceReference, externalReference, paymentReference } = isInsideWindow
        ? seeded.insideWindow
        : seeded.outsideWindow;
      const paths = {
        [`by invoice, of a ${level}`]: `${base}/invoices/${invoiceReference}/payments`,
        [`by external reference, of a ${level}`]: `${base}/payments?externalReference=${externalReference}`,
        [`by service payment id, of a ${level}`]: `${base}/payments/${paymentReference}`,
      };
      return Object.entries(paths).map(([endpoint, path]) => ({
        endpoint,
        isInsideWindow,
        paymentCount,
        path,
        apiKey: key,
        expectedReference: isInsideWindow ? paymentReference : undefined,
        ms: [],
      }));
    }),
  );
}

function newSection(lookUps: readonly LookUp[], visibility: Visibility, problems: string[]): Section {
  const medianMs = ({ ms }: LookUp): number => computePercentiles(ms).p50;
  const pairs = lookUps
    .filter(({ paymentCount }) => paymentCount === MANY_PAYMENTS)
    .map((many) => ({
      many,
      few: lookUps.find(
        ({ endpoint, isInsideWindow, paymentCount }) =>
          paymentCount === FEW_PAYMENTS && endpoint === many.endpoint && isInsideWindow === many.isInsideWindow,
      )!,
    }));
  return {
    title: 'Look-ups of a merchant, of a million payments',
    tables: [
      {
        title: 'Milliseconds for a look-up, over HTTP, key checked',
        columns: ['', 'in the window', 'payments', 'p50', 'p95', 'p99', 'requests'],
        rows: lookUps.map(({ endpoint, isInsideWindow, paymentCount, ms }) => {
          const { p50, p95, p99, count } = computePercentiles(ms);
          return [
            endpoint,
            isInsideWindow ? 'yes' : 'no',
            String(paymentCount),
            ...[p50, p95, p99].map(toThreeDigits),
            String(count),
          ];
        }),
      },
      {
        title: `Milliseconds from a payment's outcome, at ${toThreeDigits(visibility.perSecond)} payments a second`,
        columns: ['', 'p50', 'p95', 'p99', 'payments'],
        rows: (['found', 'streamed'] as const).map((event) => {
          const { p50, p95, p99, count } = visibility[event];
          return [
            event === 'found' ? 'found by a look-up' : 'sent on the stream',
            ...[p50, p95, p99].map(toThreeDigits),
            String(count),
          ];
        }),
      },
    ],
    figures: [
      ...pairs.map(({ many, few }) => ({
        name: `${many.endpoint}, ${many.isInsideWindow ? 'inside' : 'outside'} the window: ${MANY_PAYMENTS} payments against ${FEW_PAYMENTS}`,
        value: medianMs(many) / medianMs(few),
        unit: '',
        promised: MAX_RATIO,
        direction: 'most' as const,
      })),
      ...(['found', 'streamed'] as const).map((event) => ({
        name: `${event}, p99 from the outcome at half load`,
        value: visibility[event].p99,
        unit: 'ms',
        promised: MAX_VISIBILITY_MS,
        direction: 'most' as const,
      })),
    ],
    problems,
    data: { lookUps, visibility },
  };
}
