/**
 * Part `retrieval`: compares the cost of a look-up for a merchant with a million payments and one with a thousand, inside
 * and outside the window. Also measures how soon a payment is found and streamed at half of the maximum load.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import type { PartOptions } from '../main.ts';
import { percentilesOf } from '../measuring/percentiles.ts';
import { platform, ROOT } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { type SeededMerchant, seedRetrieval } from './seed-retrieval.ts';
import { MAX_VISIBILITY_MS, measureVisibility, type Visibility } from './visibility.ts';

const FEW_PAYMENTS = 1_000;
const MANY_PAYMENTS = 1_000_000;
/** A look-up with a million payments may cost at most this many times as much as one with a thousand. */
const MAX_RATIO = 1.5;
const REQUESTS_PER_SECOND_OF_STEP = 20;
const WARM_UP = 30;

interface LookUp {
  readonly endpoint: string;
  readonly isInside: boolean;
  readonly payments: number;
  readonly path: string;
  readonly apiKey: string;
  /** The payment that the look-up must find; undefined where it must find none. */
  readonly expected: string | undefined;
  readonly ms: number[];
}

export async function measureRetrieval({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const settings = { SVC_RETRIEVAL_CALLS_PER_SECOND: '100000', SVC_RETRIEVAL_BURST: '100000' };
  const running = await platform('embedded', settings).start(0);
  try {
    const visibility = await measureVisibility(running, demoOf(), seconds);
    log(
      `found after ${toThreeDigits(visibility.found.p99)} ms, streamed after ${toThreeDigits(visibility.streamed.p99)} ms (p99)`,
    );

    // The first merchant also has the payments of the visibility measurement.
    const [many, few] = demoOf().merchants;
    if (!few || !many) throw new Error('The platform has no two merchants to be measured with.');
    const lookUps: LookUp[] = [];
    for (const { merchant, payments } of [
      { merchant: few, payments: FEW_PAYMENTS },
      { merchant: many, payments: MANY_PAYMENTS },
    ]) {
      const owner = { merchantId: merchant.merchantId, siteId: merchant.sites[0]!.siteId };
      const seeded = await seedRetrieval(running.sql, owner, payments);
      log(`${payments} payments written in ${toThreeDigits(seeded.seconds)} s`);
      lookUps.push(...lookUpsOf(merchant, payments, seeded));
    }
    await running.sql('VACUUM ANALYZE merchant_retrieval.payments');

    const problems = [...visibility.problems];
    const pool = new Pool(demoOf().apiUrl, { connections: 1 });
    const measureLookUp = async ({ path, apiKey, expected }: LookUp): Promise<number> => {
      const from = performance.now();
      const answer = await pool.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
      const text = await answer.body.text();
      const took = performance.now() - from;
      const found = answer.statusCode === 200 ? (JSON.parse(text) as { paymentReference: string }[]) : [];
      if (answer.statusCode !== 200 || found.map((one) => one.paymentReference).join() !== (expected ?? ''))
        problems.push(`${path}: ${answer.statusCode}, ${found.length} payments`);
      return took;
    };
    for (let i = 0; i < WARM_UP; i++) for (const one of lookUps) await measureLookUp(one);
    // In turns, so that other load on the machine affects all look-ups alike.
    for (let i = 0; i < rounds * seconds * REQUESTS_PER_SECOND_OF_STEP; i++)
      for (const one of lookUps) one.ms.push(await measureLookUp(one));
    await pool.close();
    return section(lookUps, visibility, [...new Set(problems)]);
  } finally {
    await running.stop();
  }
}

function demoOf(): Demo {
  return JSON.parse(readFileSync(join(ROOT, '.data', 'bench', 'embedded', 'demo.json'), 'utf8')) as Demo;
}

function lookUpsOf(
  { merchantId, apiKey, sites }: Demo['merchants'][number],
  payments: number,
  seeded: SeededMerchant,
): LookUp[] {
  const [site] = sites;
  if (!site) throw new Error('The merchant has no site.');
  const owners = [
    { level: 'merchant', base: `/business/api/v1/merchants/${merchantId}`, apiKey },
    { of: 'site', base: `/business/api/v1/merchants/${merchantId}/sites/${site.siteId}`, apiKey: site.apiKey },
  ];
  return owners.flatMap(({ level, base, apiKey: key }) =>
    [true, false].flatMap((isInside) => {
      const { invoiceReference, externalReference, paymentReference } = isInside ? seeded.inside : seeded.outside;
      const paths = {
        [`by invoice, of a ${level}`]: `${base}/invoices/${invoiceReference}/payments`,
        [`by external reference, of a ${level}`]: `${base}/payments?externalReference=${externalReference}`,
        [`by service payment id, of a ${level}`]: `${base}/payments/${paymentReference}`,
      };
      return Object.entries(paths).map(([endpoint, path]) => ({
        endpoint,
        isInside,
        payments,
        path,
        apiKey: key,
        expected: isInside ? paymentReference : undefined,
        ms: [],
      }));
    }),
  );
}

function section(lookUps: readonly LookUp[], visibility: Visibility, problems: string[]): Section {
  const p50 = (of: LookUp): number => percentilesOf(of.ms).p50;
  const pairs = lookUps
    .filter(({ payments }) => payments === MANY_PAYMENTS)
    .map((many) => ({
      many,
      few: lookUps.find(
        ({ endpoint, isInside, payments }) =>
          payments === FEW_PAYMENTS && endpoint === many.endpoint && isInside === many.isInside,
      )!,
    }));
  return {
    title: 'Look-ups of a merchant, of a million payments',
    tables: [
      {
        title: 'Milliseconds for a look-up, over HTTP, key checked',
        columns: ['', 'in the window', 'payments', 'p50', 'p95', 'p99', 'requests'],
        rows: lookUps.map(({ endpoint, isInside, payments, ms }) => {
          const { p50: half, p95, p99, count } = percentilesOf(ms);
          return [
            endpoint,
            isInside ? 'yes' : 'no',
            String(payments),
            ...[half, p95, p99].map(toThreeDigits),
            String(count),
          ];
        }),
      },
      {
        title: `Milliseconds from a payment's outcome, at ${toThreeDigits(visibility.perSecond)} payments a second`,
        columns: ['', 'p50', 'p95', 'p99', 'payments'],
        rows: (['found', 'streamed'] as const).map((event) => {
          const { p50: half, p95, p99, count } = visibility[event];
          return [
            event === 'found' ? 'found by a look-up' : 'sent on the stream',
            ...[half, p95, p99].map(toThreeDigits),
            String(count),
          ];
        }),
      },
    ],
    plots: [],
    figures: [
      ...pairs.map(({ many, few }) => ({
        name: `${many.endpoint}, ${many.isInside ? 'inside' : 'outside'} the window: ${MANY_PAYMENTS} payments against ${FEW_PAYMENTS}`,
        value: p50(many) / p50(few),
        unit: '',
        promised: MAX_RATIO,
        direction: 'most' as const,
      })),
      ...(['found', 'streamed'] as const).map((how) => ({
        name: `${how}, p99 from the outcome at half load`,
        value: visibility[how].p99,
        unit: 'ms',
        promised: MAX_VISIBILITY_MS,
        direction: 'most' as const,
      })),
    ],
    problems,
    data: { lookUps, visibility },
  };
}
