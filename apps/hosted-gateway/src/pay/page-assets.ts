import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageAssets } from '../page-views/pay-page-model.js';

/** Where apps/hosted-gateway/browser/build.ts writes; two folders up from here in src as in dist. */
const FOLDER = join(import.meta.dirname, '../../dist/pay-assets');

export interface PageAsset {
  readonly contentType: string;
  readonly content: Buffer;
}

/** The page's script and style, read once. Also those of the build before, which an open page may still ask for. */
export class PageAssetFiles {
  readonly manifest: PageAssets;
  private readonly files = new Map<string, PageAsset>();

  constructor(folder = FOLDER) {
    this.manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as PageAssets;
    for (const file of readdirSync(folder)) {
      const contentType = CONTENT_TYPES[file.slice(file.lastIndexOf('.'))];
      if (contentType) this.files.set(file, { contentType, content: readFileSync(join(folder, file)) });
    }
  }

  find(file: string): PageAsset | undefined {
    return this.files.get(file);
  }
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
