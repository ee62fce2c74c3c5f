import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Output folder of tools/reference/site.ts. The relative path is the same from src and from dist. */
const FOLDER = join(import.meta.dirname, '../../dist/reference-pages');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
};

/** A page or document of the API reference. */
interface ReferenceFile {
  readonly contentType: string;
  readonly content: Buffer;
  /** The content compressed with gzip. Compression is worthwhile because the script of the pages has 1.7 MB. */
  readonly compressed: Buffer;
}

/**
 * The pages and documents of the API reference. They are loaded at the first request. If the build does not contain the
 * reference, there are no files.
 */
export class ReferenceFiles {
  private files: ReadonlyMap<string, ReferenceFile> | undefined;

  constructor(private readonly folder = FOLDER) {}

  /** Returns the file with this name, or undefined if there is no such file. */
  find(name: string): ReferenceFile | undefined {
    this.files ??= this.loadFiles();
    return this.files.get(name);
  }

  private loadFiles(): ReadonlyMap<string, ReferenceFile> {
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
