import { SvcError } from '../base/svc-error.ts';
import { ensureInstalled } from './apt.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';

/** The first has no windows and toolbars, and takes two fifths of the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Without a font of its own, Chromium measures and draws no text in a bare container. */
const FONT_PACKAGE = 'fonts-dejavu-core';

/** The browser for the tests: the one that is named, one on the PATH, or one installed now. Returns its path. */
export async function ensureChromium(root: string, logFile: string): Promise<string> {
  const named = process.env['SVC_CHROMIUM'];
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new SvcError(`SVC_CHROMIUM names ${named}, which is no program`);
  }
  return ensureInstalled({
    name: 'Chromium',
    find: () => findOnPath(NAMES, process.env['PATH'] ?? '', isExecutable),
    // Not every distribution has the first.
    packages: ['chromium-headless-shell', 'chromium'].map((name) => [name, FONT_PACKAGE]),
    root,
    logFile,
    hint: 'install Chromium or Chrome, or name it with SVC_CHROMIUM',
  });
}
