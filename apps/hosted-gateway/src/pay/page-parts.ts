import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageParts } from '../page-views/pay-page-model.js';

/** What apps/hosted-gateway/browser/build.ts writes; two folders up from here in src as in dist. */
const FILE = join(import.meta.dirname, '../../dist/pay-assets/manifest.json');

/** The page's scripts and style. */
export class BuiltParts {
  private static read: PageParts | undefined;

  /** Those of this build, read when they are first needed. */
  static get(): PageParts {
    return (this.read ??= JSON.parse(readFileSync(FILE, 'utf8')) as PageParts);
  }
}
