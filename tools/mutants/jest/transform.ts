/** Jest's transform of TypeScript that applies the mutant in the environment variable SVC_MUTANT to its file. */
import { join } from 'node:path';
import swcJest from '@swc/jest';
import { applyMutant, type Mutant } from '../mutations/find-mutants.ts';

type Transformer = Required<ReturnType<typeof swcJest.createTransformer>>;

const root = join(import.meta.dirname, '..', '..', '..');
const json = process.env['SVC_MUTANT'];
const mutant = json === undefined ? undefined : (JSON.parse(json) as Mutant);
const mutatedFile = mutant && join(root, mutant.file);

function mutate(source: string, path: string): string {
  return mutant && path === mutatedFile ? applyMutant(source, mutant) : source;
}

export function createTransformer(options: Parameters<typeof swcJest.createTransformer>[0]) {
  const swc = swcJest.createTransformer(options) as Transformer;
  const process: Transformer['process'] = (source, path, ...rest) => swc.process(mutate(source, path), path, ...rest);
  const getCacheKey: Transformer['getCacheKey'] = (source, path, ...rest) =>
    swc.getCacheKey(mutate(source, path), path, ...rest);
  return { canInstrument: false, process, getCacheKey };
}

export default { createTransformer };
