/**
 * Prometheus for `./svc up --observe`: it reads the metrics of each process, with the rules of deploy/observability. The
 * processes serve their metrics on loopback only.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { relabelRules } from '../../../deploy/observability/metric-list.ts';
import { findProcess, type ProcessRecord, startInBackground } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { ensurePrometheus } from '../install/prometheus.ts';
import { observedApps, observedPort } from '../processes/observed-apps.ts';
import { lastError, stopProgram } from '../processes/programs.ts';
import { pathsOf, type Settings, urlOf } from '../settings/settings.ts';
import type { Mode } from './services.ts';

const READY_SECONDS = 30 * PATIENCE;
const STOP_SECONDS = 15;
const RULES = ['alarms.rules.yaml', 'slos.rules.yaml'];

export function findPrometheus(settings: Settings): ProcessRecord | undefined {
  return findProcess(pathsOf(settings).prometheus.process);
}

/** The configuration of Prometheus. JSON is YAML. */
export function createPrometheusConfig(settings: Settings, mode: Mode): object {
  return {
    global: { scrape_interval: '5s', evaluation_interval: '15s' },
    rule_files: RULES.map((file) => join(settings.root, 'deploy/observability/prometheus', file)),
    scrape_configs: observedApps(mode === 'distributed').map((app) => ({
      job_name: app,
      static_configs: [{ targets: [`127.0.0.1:${observedPort(settings.ports, app)}`] }],
      metric_relabel_configs: relabelRules(),
    })),
  };
}

/** Starts Prometheus, and waits until it is ready. Returns the outcome as a text. */
export async function startPrometheus(settings: Settings, mode: Mode): Promise<string> {
  const { prometheus: paths, aptLog } = pathsOf(settings);
  const { server } = await ensurePrometheus(settings.root, aptLog);
  mkdirSync(paths.data, { recursive: true, mode: 0o700 });
  writeAtomically(paths.config, `${JSON.stringify(createPrometheusConfig(settings, mode), null, 2)}\n`, OWNER_ONLY);
  const url = urlOf(settings.ports.prometheus);
  const started = startInBackground(
    server,
    [
      `--config.file=${paths.config}`,
      `--storage.tsdb.path=${paths.data}`,
      '--storage.tsdb.retention.time=7d',
      `--web.listen-address=127.0.0.1:${settings.ports.prometheus}`,
    ],
    { cwd: settings.root, logFile: paths.log },
  );
  if (started.process !== undefined) writeAtomically(paths.process, `${JSON.stringify(started.process)}\n`, OWNER_ONLY);
  const isReady = async (): Promise<boolean> =>
    fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(1_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const isReadyOrEnded = async (): Promise<boolean> => started.exitReason() !== undefined || (await isReady());
  await waitUntil(isReadyOrEnded, { withinSeconds: READY_SECONDS });
  if (started.exitReason() === undefined && (await isReady())) return `ready, ${url}/alerts`;
  const reason = started.exitReason() ?? 'not ready in time';
  await stopPrometheus(settings);
  throw new SvcError(`Prometheus: ${lastError(started.output()) ?? reason}`, { hint: `see the log, ${paths.log}` });
}

/** Returns the outcome as a text. */
export async function stopPrometheus(settings: Settings): Promise<string> {
  const { process: file } = pathsOf(settings).prometheus;
  const outcome = await stopProgram(file, STOP_SECONDS);
  return outcome;
}
