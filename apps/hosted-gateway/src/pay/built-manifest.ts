import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageManifest } from '../page-views/pay-page-model.js';

/** Output of apps/hosted-gateway/browser/build.ts. It is two folders up from here both in src and in dist. */
const FILE = join(import.meta.dirname, '../../dist/pay-assets/manifest.json');

/** The page's scripts and style. */
export class BuiltManifest {
  private static read: PageManifest | undefined;

  /** The parts of this build, read on first use. */
  static get(): PageManifest {
    return (this.read ??= JSON.parse(readFileSync(FILE, 'utf8')) as PageManifest);
  }
}
