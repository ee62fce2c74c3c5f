// Stryker runs only the unit tests of jest.config.mjs. Stryker merges the folder under test into this configuration
// (tools/mutants/stryker/main.ts).
import jestConfig from '../../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
if (!unit) throw new Error('jest.config.mjs has no project "unit"');

// Stryker loads the environment without Jest, so it does not replace <rootDir>.
const testEnvironment = unit.testEnvironment.replace('<rootDir>', unit.rootDir);

// Jest's default of 5 s is too short for a property test on a busy machine. Stryker stops tests that a mutant makes
// hang.
const testTimeout = 60_000;

// Excludes a spec that checks the size of the built page, because instrumented files are many times larger.
const testPathIgnorePatterns = [
  ...(unit.testPathIgnorePatterns ?? []),
  '<rootDir>/apps/hosted-gateway/browser/build\\.spec\\.ts$',
];

// Otherwise Jest would start a program for each mutant, only to check whether watchman is installed.
export default { ...unit, testEnvironment, testTimeout, testPathIgnorePatterns, watchman: false };
