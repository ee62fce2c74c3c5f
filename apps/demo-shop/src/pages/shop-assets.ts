import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path is correct from src and from dist, because both are folders of the app. */
const FOLDER = join(import.meta.dirname, '../../assets');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

export interface ShopAsset {
  readonly contentType: string;
  readonly content: Buffer;
}

/** The shop's stylesheet, script and images, read once at startup. */
export class ShopAssets {
  private readonly files = new Map<string, ShopAsset>();

  constructor(folder = FOLDER) {
    for (const file of readdirSync(folder)) {
      const contentType = CONTENT_TYPES[file.slice(file.lastIndexOf('.'))];
      if (contentType) this.files.set(file, { contentType, content: readFileSync(join(folder, file)) });
    }
  }

  find(file: string): ShopAsset | undefined {
    return this.files.get(file);
  }
}
