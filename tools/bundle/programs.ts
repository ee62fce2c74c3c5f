import { join } from 'node:path';

/** Written by bundle.ts, read when an image is built. */
export const PROGRAMS_FILE = join(import.meta.dirname, '../../dist/programs.json');

/** Programs by name: `identity/main`. */
export type Programs = Readonly<Record<string, Program>>;

export interface Program {
  /** Paths of the scripts, relative to the root. The path of a source map is the script's path and `.map`. */
  readonly files: readonly string[];
  /** Packages that the scripts import from node_modules. Optional packages may be missing. */
  readonly packages: readonly string[];
  /** Folders of the packages whose code is in the scripts, relative to the root. Images must contain their licences. */
  readonly bundledPackages: readonly string[];
}
