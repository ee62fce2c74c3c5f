import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Output folder of tools/reference/site.ts; the path is the same from src and from dist. */
const FOLDER = join(import.meta.dirname, '../../dist/reference-pages');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
};

export interface ReferenceFile {
  readonly contentType: string;
  readonly content: Buffer;
  /** Compressed content: the page's script has 1.7 MB. */
  readonly compressed: Buffer;
}

/** The pages and documents of the reference, loaded at the first request. Empty in a build without them. */
export class ReferenceFiles {
  private files: ReadonlyMap<string, ReferenceFile> | undefined;

  constructor(private readonly folder = FOLDER) {}

  find(name: string): ReferenceFile | undefined {
    this.files ??= this.read();
    return this.files.get(name);
  }

  private read(): ReadonlyMap<string, ReferenceFile> {
    const names = existsSync(this.folder) ? readdirSync(this.folder) : [];
    return new Map(
      names.flatMap((name) => {
        const contentType = CONTENT_TYPES[extname(name)];
        if (contentType === undefined) return [];
        const content = readFileSync(join(this.folder, name));
        return [[name, { contentType, content, compressed: gzipSync(content) }] as const];
      }),
    );
  }
}
