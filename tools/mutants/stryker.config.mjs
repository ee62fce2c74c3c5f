// How Stryker makes and runs mutants; tools/mutants/stryker.ts says of which files. StrykerJS does not mutate decorators
// and numbers: the bounds of a request are held by tables of tests instead (libs/contracts/src/http/*.spec.ts).

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  jest: { configFile: 'tools/mutants/jest.unit.config.mjs', enableFindRelatedTests: true },
  coverageAnalysis: 'perTest',
  // Jest compiles with swc, which checks no types.
  disableTypeChecks: false,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowEmojis: false, logTests: false, reportTests: false, reportScoreTable: false },
  logLevel: 'warn',
  warnings: { slow: false },
  // Compared for each folder by tools/mutants/stryker.ts.
  thresholds: { high: 90, low: 90, break: null },
  // A test that is slow because the machine is busy must not count as a mutant that ran for ever.
  timeoutMS: 10_000,
};
