/** Jest's transform of TypeScript that compiles all mutants into a production file; see catalogue.ts. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import swcJest from '@swc/jest';
import { instrument } from '../mutations/catalogue.ts';
import { isProduction } from '../selection.ts';

type Swc = ReturnType<typeof swcJest.createTransformer>;
type Process = NonNullable<Swc['process']>;
type CacheKey = NonNullable<Swc['getCacheKey']>;

const root = join(import.meta.dirname, '..', '..', '..');
const tool = join(import.meta.dirname, '..');
/** A digest of this tool. It is part of the cache key, because another version of the tool compiles differently. */
const version = ['jest', 'mutations', '.']
  .flatMap((folder) => readdirSync(join(tool, folder)).map((file) => join(tool, folder, file)))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha1'))
  .digest('hex');

export function createTransformer(options: Parameters<typeof swcJest.createTransformer>[0]) {
  const swc = swcJest.createTransformer(options);
  const process: Process = (source, path, jestOptions) => {
    const file = relative(root, path).split(sep).join('/');
    return swc.process!(isProduction(file) ? instrument(file, source) : source, path, jestOptions);
  };
  const getCacheKey: CacheKey = (...args) =>
    createHash('sha1')
      .update(swc.getCacheKey!(...args))
      .update(version)
      .digest('hex');
  return { canInstrument: false, process, getCacheKey };
}

export default { createTransformer };
