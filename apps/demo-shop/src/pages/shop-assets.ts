import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';

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
@Injectable()
export class ShopAssets {
  private readonly files = new Map<string, ShopAsset>();

  constructor() {
    for (const file of readdirSync(FOLDER)) {
      const contentType = CONTENT_TYPES[file.slice(file.lastIndexOf('.'))];
      if (contentType) this.files.set(file, { contentType, content: readFileSync(join(FOLDER, file)) });
    }
  }

  find(file: string): ShopAsset | undefined {
    return this.files.get(file);
  }
}
