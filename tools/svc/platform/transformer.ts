/**
 * The transformer of the demo's till (apps/pos-transformer). As in a store, it is a separate process with a merchant's
 * configuration file. It needs the keys of the demo's sites, so it starts last, and it is stopped first.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { findProcess, type ProcessRecord } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';
import { isReady } from '../base/wait-until.ts';
import type { Demo, DemoMerchant } from '../demo/seed.ts';
import { programArguments, startProgram, stopProgram } from '../processes/programs.ts';
import { pathsOf, type Ports, type Settings, urlOf } from '../settings/settings.ts';

/** The options of Node.js in docker/pos-transformer.service. */
const SMALL_HEAP = ['--max-semi-space-size=2', '--max-old-space-size=64', '--v8-pool-size=1'];
const READY_SECONDS = 30 * PATIENCE;
const STOP_SECONDS = 15;

export function findTransformer(settings: Settings): ProcessRecord | undefined {
  return findProcess(pathsOf(settings).transformer.process);
}

/** The URL for tills and displays: plain HTTP, as in a store; with `--lan` only on the network address. */
export function transformerUrl(lan: string | undefined, { transformer }: Ports): string {
  return lan === undefined ? urlOf(transformer) : `http://${lan}:${transformer}`;
}

/** The configuration of a store with the sites of one merchant. The facade, for another kind of till, has one site. */
function transformerConfig(settings: Settings, { merchantId, name, sites }: DemoMerchant): object {
  return {
    apiUrl: urlOf(settings.ports.api),
    merchantId,
    sites: sites.map(({ siteId, siteReference, apiKey }) => ({ siteId, siteReference, name, apiKey })),
    facadeSiteId: sites.at(-1)?.siteId,
    // Tills and displays of a store are other computers.
    ...(settings.lan === undefined ? {} : { listenAddress: settings.lan }),
    port: settings.ports.transformer,
    database: 'transformer.sqlite',
    logLevel: settings.forwarded['SVC_LOG_LEVEL'] ?? 'info',
  };
}

/** Starts the transformer for the first merchant of the demo, and waits until it is ready. */
export async function startTransformer(settings: Settings, demo: Demo): Promise<string> {
  const paths = pathsOf(settings);
  const [merchant] = demo.merchants;
  if (merchant === undefined) throw new SvcError('the demo data has no merchant for the till');
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
    details: {},
    isReady: () => isReady(transformerUrl(settings.lan, settings.ports)),
    readySeconds: READY_SECONDS,
  });
  return `ready, process ${pid}`;
}

/** Returns the outcome as a text. */
export function stopTransformer(settings: Settings): Promise<string> {
  return stopProgram(pathsOf(settings).transformer.process, STOP_SECONDS);
}
