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
  // The limit for hooks: a slow hook on a busy machine must not count as a test that a mutant made fail.
  testTimeout: 30_000,
  setupFiles: [join(here, 'setup.mjs')],
};
