import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { lastLines } from './files.ts';
import { runProgram } from './run-program.ts';
import { SvcError } from './svc-error.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Without a font of its own, Chromium measures and draws no text in a bare container. */
const DEBIAN_PACKAGES = ['chromium', 'fonts-dejavu-core'];

/** The browser for the tests: the one that is named, one on the PATH, or one installed now. Returns its path. */
export async function ensureChromium(root: string, logFile: string): Promise<string> {
  const named = process.env['SVC_CHROMIUM'];
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new SvcError(`SVC_CHROMIUM names ${named}, which is no program`);
  }
  const found = findOnPath(NAMES, process.env['PATH'] ?? '', isExecutable);
  if (found !== undefined) return found;
  const hint = 'install Chromium or Chrome, or name it with SVC_CHROMIUM';
  const aptGet = findOnPath(['apt-get'], process.env['PATH'] ?? '', isExecutable);
  if (aptGet === undefined || process.getuid?.() !== 0) {
    throw new SvcError('the browser tests need Chromium, and there is none on the PATH', { hint });
  }
  console.log(`  … no Chromium on the PATH: installing it with apt-get (log: ${logFile})`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...DEBIAN_PACKAGES]]) {
    const { code } = await runProgram(aptGet, args, { cwd: root, logFile, env });
    if (code === 0) continue;
    for (const line of lastLines(logFile, 8)) console.error(`    ${line}`);
    throw new SvcError(`apt-get ${args[0]} failed (exit code ${code})`, { hint });
  }
  const installed = findOnPath(NAMES, process.env['PATH'] ?? '', isExecutable);
  if (installed === undefined) throw new SvcError('apt-get installed Chromium, but it is not on the PATH', { hint });
  return installed;
}

/** The first of these programs that the PATH has. */
export function findOnPath(
  names: readonly string[],
  path: string,
  isProgram: (file: string) => boolean,
): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
