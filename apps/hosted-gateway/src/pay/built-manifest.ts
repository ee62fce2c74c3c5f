import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageManifest } from '../page-views/pay-page-model.js';

/**
 * Output of apps/hosted-gateway/browser/build.ts. The path is correct from src and from dist, because both are folders
 * of the app.
 */
const FILE = join(import.meta.dirname, '../../dist/pay-assets/manifest.json');

/** The scripts and the style of the payment page. */
export class BuiltManifest {
  private static cached: PageManifest | undefined;

  /** The manifest of this build. Reads the file on first use. */
  static get(): PageManifest {
    return (this.cached ??= JSON.parse(readFileSync(FILE, 'utf8')) as PageManifest);
  }
}
