// Stryker runs only the unit tests of jest.config.mjs. Stryker merges the folder under test into this configuration
// (tools/mutants/stryker.ts).
import jestConfig from '../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
if (!unit) throw new Error('jest.config.mjs has no project "unit"');

// Stryker loads the environment itself, and does not know <rootDir>.
const testEnvironment = unit.testEnvironment.replace('<rootDir>', unit.rootDir);

// Jest's own 5 s are too few for a property test on a busy machine; Stryker itself ends a mutant that hangs.
const testTimeout = 60_000;

// This spec limits the size of the built page, and instrumented files are many times larger.
const testPathIgnorePatterns = [
  ...(unit.testPathIgnorePatterns ?? []),
  '<rootDir>/apps/hosted-gateway/browser/build\\.spec\\.ts$',
];

// Otherwise Jest would start a program for each mutant, only to check whether watchman is installed.
export default { ...unit, testEnvironment, testTimeout, testPathIgnorePatterns, watchman: false };
