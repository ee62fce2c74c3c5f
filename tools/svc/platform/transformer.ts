/**
 * The transformer of the demo's till (apps/pos-transformer): a process of its own, as in a store, with a configuration file
 * like a merchant's. It starts after the demo was seeded, because it needs the keys of its sites, and stops first.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { environmentFor } from '../processes/env-files.ts';
import { OWNER_ONLY, openLog, readFrom, readJson, writeAtomically } from '../base/files.ts';
import { formatLogLine } from '../processes/log-lines.ts';
import { PATIENCE } from '../base/patience.ts';
import { findIdentity, isAlive } from '../base/process-identity.ts';
import { programArguments } from '../processes/programs.ts';
import type { Demo, DemoMerchant } from '../demo/seed.ts';
import { pathsOf, urlOf } from '../base/settings.ts';
import type { Ports, Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

export interface RunningTransformer {
  readonly pid: number;
  readonly identity: string;
}

/** As in docker/pos-transformer.service. */
const SMALL_HEAP = ['--max-semi-space-size=2', '--max-old-space-size=64', '--v8-pool-size=1'];
const READY_SECONDS = 30 * PATIENCE;
const STOP_SECONDS = 15;

/** The transformer as it was started, if that very process still runs. */
export function findTransformer(settings: Settings): RunningTransformer | undefined {
  const known = readJson(pathsOf(settings).transformer.process) as RunningTransformer | undefined;
  return known !== undefined && isAlive(known.pid, known.identity) ? known : undefined;
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
    logLevel: settings.passedOn['SVC_LOG_LEVEL'] ?? 'info',
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
  const log = openLog(paths.transformer.log);
  const program = [...SMALL_HEAP, ...programArguments(settings.root, 'pos-transformer'), paths.transformer.config];
  const child = spawn(process.execPath, program, {
    cwd: settings.root,
    env: environmentFor({ TRANSFORMER_API_KEY: demo.transformerApiKey }),
    detached: true,
    stdio: ['ignore', log.handle, log.handle],
  });
  let ended: string | undefined;
  child.once('exit', (code, signal) => (ended = signal ?? `exit code ${code}`));
  child.once('error', (error) => (ended = error.message));
  child.unref();
  closeSync(log.handle);
  const identity = child.pid === undefined ? undefined : findIdentity(child.pid);
  if (child.pid !== undefined && identity !== undefined) {
    writeAtomically(paths.transformer.process, `${JSON.stringify({ pid: child.pid, identity })}\n`, OWNER_ONLY);
    const isReady = await waitUntil(
      async () => ((await answers(settings)) ? true : ended === undefined ? undefined : false),
      { withinSeconds: READY_SECONDS },
    );
    if (isReady === true && ended === undefined) return `ready, process ${child.pid}`;
  }
  await stopTransformer(settings);
  const said = readFrom(paths.transformer.log, log.startsAt).trim().split('\n').at(-1) ?? '';
  throw new SvcError(`the till's transformer did not start: ${formatLogLine(said) || ended}`, {
    hint: `its log is ${paths.transformer.log}`,
  });
}

/** Lets it finish what it has at hand. Returns what was done, in words. */
export async function stopTransformer(settings: Settings): Promise<string> {
  const running = findTransformer(settings);
  const isGone = () => (findTransformer(settings) === undefined ? true : undefined);
  let done = 'was not running';
  if (running !== undefined) {
    signal(running.pid, 'SIGTERM');
    done = 'stopped';
    if ((await waitUntil(isGone, { withinSeconds: STOP_SECONDS })) !== true) {
      signal(running.pid, 'SIGKILL');
      done = `killed: it had not finished after ${STOP_SECONDS} s`;
      await waitUntil(isGone, { withinSeconds: 5 });
    }
  }
  rmSync(pathsOf(settings).transformer.process, { force: true });
  return done;
}

async function answers(settings: Settings): Promise<boolean> {
  try {
    const url = `${transformerUrlOf(settings.lan, settings.ports)}/health/ready`;
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended by itself in between
  }
}
