import { SvcError } from '../base/svc-error.ts';
import { ensureInstalled } from './apt.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';

/** In order of preference: the headless shell takes two fifths of the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** In a container without fonts, Chromium renders no text. */
const FONT_PACKAGE = 'fonts-dejavu-core';

/** Returns the path of the browser for the tests. */
export async function ensureChromium(root: string, logFile: string): Promise<string> {
  const named = process.env['SVC_CHROMIUM'];
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new SvcError(`SVC_CHROMIUM is ${named}, which is not a program`);
  }
  return ensureInstalled({
    name: 'Chromium',
    find: () => findOnPath(NAMES, process.env['PATH'] ?? '', isExecutable),
    packages: ['chromium-headless-shell', 'chromium'].map((name) => [name, FONT_PACKAGE]),
    root,
    logFile,
    hint: 'install Chromium or Chrome, or set SVC_CHROMIUM to its path',
  });
}
