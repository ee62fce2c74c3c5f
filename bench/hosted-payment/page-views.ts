/** Part `pages` of the benchmark: measures views of the payment page, compressed as for browsers, and uncompressed. */
import type { PartOptions } from '../main.ts';
import { readCpuMs } from '../measuring/cpu.ts';
import { forSeconds, runClosedLoad } from '../measuring/open-loop.ts';
import { median } from '../measuring/percentiles.ts';
import { newPlatform, newPlatformAtCommit } from '../platforms/platform.ts';
import type { RunningSystem } from '../platforms/system.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { orderOfRound } from './measure.ts';
import { MerchantEndpoint } from './merchant-endpoint.ts';
import { Payers } from './payer.ts';

const VIEWERS = 16;
const SESSIONS = 200;
const MAX_CPU_MS = 1;

/** Views of one system in one encoding, with a value for each round. */
interface Views {
  readonly name: string;
  readonly running: RunningSystem;
  readonly view: () => Promise<Buffer>;
  readonly perSecond: number[];
  /** Milliseconds of CPU of the services for each view. */
  readonly cpuMs: number[];
  readonly bytes: number;
}

export async function measurePageViews({ rounds, seconds, against, log }: PartOptions): Promise<Section> {
  const systems = [
    ...(against === undefined ? [] : [newPlatformAtCommit(against, 'rabbitmq')]),
    newPlatform('rabbitmq'),
  ];
  const stops: (() => Promise<void>)[] = [];
  const series: Views[] = [];
  try {
    for (const system of systems) {
      const running = await system.start();
      stops.push(() => running.stop());
      const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
      const payers = new Payers(running.merchant, endpoint);
      stops.push(
        () => payers.close(),
        () => endpoint.stop(),
      );
      series.push(...(await newViews(system.name, running, payers)));
    }
    for (const views of series) await runViews(views, 2 * seconds);
    for (let round = 0; round < rounds; round++)
      for (const views of orderOfRound(series, round)) {
        const { perSecond, cpuMs } = await runViews(views, seconds / 2);
        views.perSecond.push(perSecond);
        views.cpuMs.push(cpuMs);
        log(`round ${round + 1} of ${rounds}, ${views.name}: ${perSecond.toFixed(0)} a second, ${cpuMs.toFixed(2)} ms`);
      }
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
  const rows = series.map(({ name, perSecond, cpuMs, bytes }) => ({ name, perSecond, cpuMs, bytes }));
  return {
    title: 'Views of the payment page; RabbitMQ, all in one',
    tables: [
      {
        title: 'Views a second, and CPU ms of the services for one view',
        columns: ['', 'median', 'rounds', 'services, CPU ms', 'bytes'],
        rows: rows.map(({ name, perSecond, cpuMs, bytes }) => [
          name,
          toThreeDigits(median(perSecond)),
          perSecond.map(toThreeDigits).join(', '),
          toThreeDigits(median(cpuMs)),
          String(bytes),
        ]),
      },
    ],
    figures: [
      {
        name: 'processor time of the services for a page view of a browser',
        value: median(rows.at(-2)!.cpuMs),
        unit: 'ms',
        promised: MAX_CPU_MS,
        direction: 'most',
      },
    ],
    problems: [],
    data: rows,
  };
}

async function newViews(name: string, running: RunningSystem, payers: Payers): Promise<Views[]> {
  const addresses: string[] = [];
  while (addresses.length < SESSIONS) addresses.push((await payers.createSession()).redirectUrl);
  return Promise.all(
    (['gzip', 'identity'] as const).map(async (encoding) => {
      let next = 0;
      const view = (): Promise<Buffer> => payers.downloadPage(addresses[next++ % SESSIONS]!, encoding);
      const { length: bytes } = await view();
      return { name: `${name}, ${encoding}`, running, view, perSecond: [], cpuMs: [], bytes };
    }),
  );
}

async function runViews({ running, view }: Views, seconds: number): Promise<{ perSecond: number; cpuMs: number }> {
  const readCpu = (): number => readCpuMs(running.groups)['services']!;
  const [startedAt, cpuBefore] = [performance.now(), readCpu()];
  const views = await runClosedLoad(VIEWERS, forSeconds(seconds), view);
  const perSecond = views / ((performance.now() - startedAt) / 1_000);
  return { perSecond, cpuMs: (readCpu() - cpuBefore) / views };
}
