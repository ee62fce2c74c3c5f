import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

/** The path is correct from src and from dist, because both are folders of the app. */
const FOLDER = join(import.meta.dirname, '../../assets');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

export interface ConsoleAsset {
  /** Address with the hash of the content, so that browsers may keep it for ever. */
  readonly path: string;
  readonly contentType: string;
  readonly content: Buffer;
}

const HASH_LENGTH = 16;

const MAIN_STYLESHEET = 'console.css';

/** The stylesheets of the sections are parts of the main one, so that a page needs one request. */
function readAssets(): ReadonlyMap<string, ConsoleAsset> {
  const files = readdirSync(FOLDER).sort();
  const sections = files.filter((file) => extname(file) === '.css' && file !== MAIN_STYLESHEET);
  const read = (...names: string[]): Buffer => Buffer.concat(names.map((name) => readFileSync(join(FOLDER, name))));
  return new Map(
    files.flatMap((file) => {
      const extension = extname(file);
      const contentType = CONTENT_TYPES[extension];
      if (contentType === undefined || sections.includes(file)) return [];
      const content = file === MAIN_STYLESHEET ? read(file, ...sections) : read(file);
      const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH);
      const path = `/assets/${basename(file, extension)}.${hash}${extension}`;
      return [[file, { path, contentType, content }] as const];
    }),
  );
}

/** The stylesheet and the script of the console, by their file names. */
export const ASSETS = readAssets();

const assetsByPath = new Map([...ASSETS.values()].map((asset) => [asset.path, asset]));

export function findAsset(path: string): ConsoleAsset | undefined {
  return assetsByPath.get(path);
}
