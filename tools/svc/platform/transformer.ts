/**
 * The transformer of the demo's till (apps/pos-transformer): a process of its own, as in a store, with a configuration file
 * like a merchant's. It starts after the demo was seeded, because it needs the keys of its sites, and stops first.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type KnownProcess, findProcess } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { type Ports, type Settings, pathsOf, urlOf } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { isReady } from '../base/wait-until.ts';
import type { Demo, DemoMerchant } from '../demo/seed.ts';
import { programArguments, startProgram, stopProgram } from '../processes/programs.ts';

/** As in docker/pos-transformer.service. */
const SMALL_HEAP = ['--max-semi-space-size=2', '--max-old-space-size=64', '--v8-pool-size=1'];
const READY_SECONDS = 30 * PATIENCE;
const STOP_SECONDS = 15;

/** The transformer as it was started, if that very process still runs. */
export function findTransformer(settings: Settings): KnownProcess | undefined {
  return findProcess(pathsOf(settings).transformer.process);
}

/** Where tills and displays reach it: plain HTTP, as in a store; with `--lan` on the network's address alone. */
export function transformerUrlOf(lan: string | undefined, { transformer }: Ports): string {
  return lan === undefined ? urlOf(transformer) : `http://${lan}:${transformer}`;
}

export function newTransformerKey(): string {
  return `svc_transformer_${randomBytes(32).toString('base64url')}`;
}

/** The configuration file of a store with the sites of one merchant; the last of them is the one of the facade. */
export function transformerConfig(settings: Settings, { merchantId, sites }: DemoMerchant): object {
  return {
    apiUrl: urlOf(settings.ports.api),
    merchantId,
    sites: sites.map(({ siteId, siteReference, apiKey }) => ({ siteId, siteReference, apiKey })),
    facadeSiteId: sites.at(-1)?.siteId,
    // On the network as the rest is: tills and displays of a store are other computers. They need the key.
    ...(settings.lan === undefined ? {} : { listenAddress: settings.lan }),
    port: settings.ports.transformer,
    database: 'transformer.sqlite',
    logLevel: settings.forwarded['SVC_LOG_LEVEL'] ?? 'info',
  };
}

/** Starts it for the first merchant of the demo, in a session of its own, and waits until it answers. */
export async function startTransformer(settings: Settings, demo: Demo): Promise<string> {
  const paths = pathsOf(settings);
  const [merchant] = demo.merchants;
  if (merchant === undefined) throw new SvcError('the demo has no merchant for the till');
  mkdirSync(dirname(paths.transformer.config), { recursive: true, mode: 0o700 });
  const config = transformerConfig(settings, merchant);
  writeAtomically(paths.transformer.config, `${JSON.stringify(config, null, 2)}\n`, OWNER_ONLY);
  const { pid } = await startProgram({
    name: "the till's transformer:",
    root: settings.root,
    program: [...SMALL_HEAP, ...programArguments(settings.root, 'pos-transformer'), paths.transformer.config],
    variables: { TRANSFORMER_API_KEY: demo.transformerApiKey },
    logFile: paths.transformer.log,
    processFile: paths.transformer.process,
    notes: {},
    isReady: () => isReady(transformerUrlOf(settings.lan, settings.ports)),
    readySeconds: READY_SECONDS,
  });
  return `ready, process ${pid}`;
}

/** Lets it finish what it has at hand. Returns what was done, in words. */
export function stopTransformer(settings: Settings): Promise<string> {
  return stopProgram(pathsOf(settings).transformer.process, STOP_SECONDS);
}
