import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageAssets } from '../page-views/pay-page-model.js';

/** Where apps/hosted-gateway/browser/build.ts writes; two folders up from here in src as in dist. */
const FOLDER = join(import.meta.dirname, '../../dist/pay-assets');

export interface PageAsset {
  readonly contentType: string;
  readonly content: Buffer;
  /** Undefined: as it is. */
  readonly contentEncoding?: 'br' | 'gzip';
}

/** The page's scripts and style, read once. Also the files of the build before, which an open page may still ask for. */
export class PageAssetFiles {
  readonly manifest: PageAssets;
  private readonly files = new Map<string, PageAsset[]>();

  constructor(folder = FOLDER) {
    this.manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as PageAssets;
    for (const file of readdirSync(folder)) {
      const [, name, extension, ending = ''] = /^(.+(\.js|\.css))(\.br|\.gz)?$/.exec(file) ?? [];
      if (name === undefined || extension === undefined) continue;
      const contentEncoding = ENCODINGS[ending];
      const content = readFileSync(join(folder, file));
      const asset = {
        contentType: CONTENT_TYPES[extension]!,
        content,
        ...(contentEncoding ? { contentEncoding } : {}),
      };
      this.files.set(name, [...(this.files.get(name) ?? []), asset]);
    }
  }

  private static read: PageAssetFiles | undefined;

  /** Those of this build, read when they are first needed. */
  static built(): PageAssetFiles {
    return (PageAssetFiles.read ??= new PageAssetFiles());
  }

  /** In the smallest form that the browser accepts. */
  find(file: string, acceptEncoding = ''): PageAsset | undefined {
    const accepted = acceptEncoding.split(',').map((each) => each.trim());
    const isAccepted = ({ contentEncoding }: PageAsset): boolean =>
      contentEncoding === undefined ||
      accepted.some((each) => each.startsWith(contentEncoding) && !/;q=0(\.0+)?$/.test(each));
    return this.files
      .get(file)
      ?.filter(isAccepted)
      .reduce((one, other) => (other.content.length < one.content.length ? other : one));
  }
}

/** By the end of a file's name. */
const ENCODINGS: Readonly<Record<string, 'br' | 'gzip'>> = { '.br': 'br', '.gz': 'gzip' };

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
