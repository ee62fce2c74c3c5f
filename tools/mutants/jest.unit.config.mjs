// What Stryker runs against its mutants: the unit tests of jest.config.mjs and nothing else. Stryker merges the folder
// under test into it (tools/mutants/stryker.ts).
import jestConfig from '../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
if (!unit) throw new Error('jest.config.mjs has no project "unit"');

// Stryker loads the environment itself, and does not know <rootDir>.
const testEnvironment = unit.testEnvironment.replace('<rootDir>', unit.rootDir);

// Jest's own 5 s are too few for a property on a busy machine; Stryker itself ends a mutant that runs for ever.
const testTimeout = 60_000;

// Bounds the size of what is built from the files under test: with all of their mutants in it, it is many times as large.
const testPathIgnorePatterns = [
  ...(unit.testPathIgnorePatterns ?? []),
  '<rootDir>/apps/hosted-gateway/browser/build\\.spec\\.ts$',
];

// Jest would start a program for each mutant, only to learn whether watchman is there.
export default { ...unit, testEnvironment, testTimeout, testPathIgnorePatterns, watchman: false };
