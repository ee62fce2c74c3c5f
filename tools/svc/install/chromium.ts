import { canInstallPackages, installPackages } from './apt.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';
import { SvcError } from '../base/svc-error.ts';

/** The first has no windows and toolbars, and takes two fifths of the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** In this order; not every distribution has the first. */
const DEBIAN_PACKAGES = ['chromium-headless-shell', 'chromium'];
/** Without a font of its own, Chromium measures and draws no text in a bare container. */
const FONT_PACKAGE = 'fonts-dejavu-core';

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
  if (!canInstallPackages()) {
    throw new SvcError('the browser tests need Chromium, and there is none on the PATH', { hint });
  }
  console.log(`  … no Chromium on the PATH: installing it with apt-get (log: ${logFile})`);
  const find = () => findOnPath(NAMES, process.env['PATH'] ?? '', isExecutable);
  let failure: Error | undefined;
  for (const name of DEBIAN_PACKAGES) {
    try {
      await installPackages([name, FONT_PACKAGE], { root, logFile, hint, isThere: () => find() !== undefined });
      break;
    } catch (error) {
      failure = error as Error;
    }
  }
  const installed = find();
  if (installed === undefined && failure !== undefined) throw failure;
  if (installed === undefined) throw new SvcError('apt-get installed Chromium, but it is not on the PATH', { hint });
  return installed;
}
