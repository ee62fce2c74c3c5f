import { join } from 'node:path';
import base from '../../jest.config.mjs';

// Like the project's own configuration, as one project for all specs, with mutants compiled into production code.
const [unit] = base.projects;
const here = import.meta.dirname;
const [, typescript] = unit.transform['\\.tsx?$'];

export default {
  ...unit,
  displayName: 'mutants',
  testMatch: ['<rootDir>/{apps,libs,tools/mutants/fixtures}/**/*.{spec,int-spec}.ts'],
  transform: { ...unit.transform, '\\.tsx?$': [join(here, 'jest/transform.ts'), typescript] },
  testEnvironment: join(here, 'jest/environment.ts'),
  // For hooks: a busy machine must not look like a mutant.
  testTimeout: 30_000,
  setupFiles: [join(here, 'setup.mjs')],
};
