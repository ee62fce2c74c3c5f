// What Stryker runs against its mutants: the unit tests of jest.config.mjs and nothing else. Stryker merges the folder
// under test into it (tools/mutants/stryker.ts).
import jestConfig from '../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
if (!unit) throw new Error('jest.config.mjs has no project "unit"');

// Stryker loads the environment itself, and does not know <rootDir>.
const testEnvironment = unit.testEnvironment.replace('<rootDir>', unit.rootDir);

// Jest's own 5 s are too few for a property on a busy machine; Stryker itself ends a mutant that runs for ever.
const testTimeout = 60_000;

// Jest would start a program for each mutant, only to learn whether watchman is there.
export default { ...unit, testEnvironment, testTimeout, watchman: false };
