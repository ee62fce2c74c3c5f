import { SvcError } from '../base/svc-error.ts';
import { ensureInstalled } from './apt.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';

/** In order of preference. The headless shell needs two fifths of the processor time of a complete browser. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** In a container without fonts, Chromium renders no text. */
const FONT_PACKAGE = 'fonts-dejavu-core';

/** Returns the path of the browser for the tests. */
export async function ensureChromium(root: string, logFile: string): Promise<string> {
  const configured = process.env['SVC_CHROMIUM'];
  if (configured) {
    if (isExecutable(configured)) return configured;
    throw new SvcError(`SVC_CHROMIUM is ${configured}, which is not a program`);
  }
  return ensureInstalled({
    name: 'Chromium',
    find: () => findOnPath(NAMES),
    packages: ['chromium-headless-shell', 'chromium'].map((name) => [name, FONT_PACKAGE]),
    root,
    logFile,
    hint: 'install Chromium or Chrome, or set SVC_CHROMIUM to its path',
  });
}
