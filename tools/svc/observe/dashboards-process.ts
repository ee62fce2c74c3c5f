/** Starts and stops the program that serves the dashboards. */
import { join } from 'node:path';
import { PATIENCE } from '../base/patience.ts';
import { isReady } from '../base/wait-until.ts';
import { startProgram, stopProgram } from '../processes/programs.ts';
import { pathsOf, type Settings, urlOf } from '../settings/settings.ts';

const READY_SECONDS = 30 * PATIENCE;
const STOP_SECONDS = 15;

/** Waits until the program is ready. Returns the outcome as a text. */
export async function startDashboards(settings: Settings): Promise<string> {
  const { root, ports } = settings;
  const { log, process: processFile } = pathsOf(settings).dashboards;
  const url = urlOf(ports.dashboards);
  await startProgram({
    name: 'the dashboards:',
    root,
    program: [join(root, 'tools/svc/observe/main.ts'), String(ports.dashboards), urlOf(ports.prometheus)],
    variables: {},
    logFile: log,
    processFile,
    details: {},
    isReady: () => isReady(url),
    readySeconds: READY_SECONDS,
  });
  return `ready, ${url}/`;
}

/** Returns the outcome as a text. */
export function stopDashboards(settings: Settings): Promise<string> {
  return stopProgram(pathsOf(settings).dashboards.process, STOP_SECONDS);
}
