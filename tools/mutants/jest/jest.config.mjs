// Runs the specs of both projects `unit` and `integration` of /jest.config.mjs with the mutant in SVC_MUTANT.
import { join } from 'node:path';
import jestConfig from '../../../jest.config.mjs';

const [unit] = jestConfig.projects;
const [, swcOptions] = unit.transform['\\.tsx?$'];

export default {
  ...unit,
  displayName: 'mutants',
  testMatch: ['<rootDir>/{apps,libs,tools/mutants/fixtures}/**/*.{spec,int-spec}.ts'],
  transform: { ...unit.transform, '\\.tsx?$': [join(import.meta.dirname, 'transform.ts'), swcOptions] },
  testSequencer: join(import.meta.dirname, 'nearest-first.mjs'),
  testTimeout: 30_000,
  watchman: false,
};
