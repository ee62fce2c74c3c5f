import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Libs that contain only pure files. */
const PURE_LIBS = ['libs/contracts', 'libs/kernel', 'libs/sdk'];

/** Failing tests show mistakes in these helpers. */
const TEST_HELPERS = 'libs/testing';

/** Imports, also of types, that make a file impure. dependency-cruiser forbids them in files such as `sites/site.ts`. */
const IMPORT_OF_FRAMEWORK = /^import [^;]*?from '(?:@nestjs|typeorm|pg|amqplib)(?:\/[^']*)?'/m;
/** Imports of code that uses servers, files or sockets, so that a unit test alone cannot cover the file. */
const IMPORT_OF_OUTSIDE =
  /^import (?!type)[^;]*?from '(?:(?:fastify|rxjs|undici|pino)(?:\/[^']*)?|@svc\/(?:auth|messaging|outbound|persistence|service)|node:(?:fs|http|https|tls|dns|child_process)(?:\/[^']*)?)'/m;

/**
 * The pure files of a folder (`libs/sdk`, `apps/identity`): those that unit tests alone must cover. In contracts,
 * kernel and SDK these are all files. Elsewhere these are the files without framework that have a `*.spec.ts` beside
 * them, or that are the noun of their folder (`sites/site.ts`). A noun without a test is included: all its mutants
 * survive.
 */
export function findPureFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => isSource(path) && (PURE_LIBS.includes(folder) || isPure(root, path)))
    .sort();
}

/** Every app and lib that contains pure files, without the helpers of tests. */
export function findFoldersWithPureFiles(root: string): { folder: string; files: string[] }[] {
  return ['libs', 'apps']
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`))
    .filter((folder) => folder !== TEST_HELPERS)
    .map((folder) => ({ folder, files: findPureFiles(root, folder) }))
    .filter(({ files }) => files.length > 0);
}

function isSource(path: string): boolean {
  if (/(^|\/)(dist|node_modules|test|migrations)\//.test(path)) return false;
  return path.endsWith('.ts') && !/\.d\.ts$|spec\.ts$|\/index\.ts$/.test(path);
}

function isPure(root: string, path: string): boolean {
  const isNoun = basename(dirname(path)) === `${basename(path, '.ts')}s`;
  if (!isNoun && !existsSync(join(root, path.replace(/\.ts$/, '.spec.ts')))) return false;
  const text = readFileSync(join(root, path), 'utf8');
  return !IMPORT_OF_FRAMEWORK.test(text) && !IMPORT_OF_OUTSIDE.test(text);
}
