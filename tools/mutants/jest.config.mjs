import { join } from 'node:path';
import base from '../../jest.config.mjs';

// The configuration of /jest.config.mjs, but with one project for all specs, and with mutants compiled into production
// code.
const [unit] = base.projects;
const here = import.meta.dirname;
const [, typescript] = unit.transform['\\.tsx?$'];

export default {
  ...unit,
  displayName: 'mutants',
  testMatch: ['<rootDir>/{apps,libs,tools/mutants/fixtures}/**/*.{spec,int-spec}.ts'],
  transform: { ...unit.transform, '\\.tsx?$': [join(here, 'jest/transform.ts'), typescript] },
  testEnvironment: join(here, 'jest/environment.ts'),
  // The time limit of hooks. It is long, because a slow hook must not count as a test that fails with a mutant.
  testTimeout: 30_000,
  setupFiles: [join(here, 'setup.mjs')],
};
