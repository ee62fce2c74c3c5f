// Stryker's settings; tools/mutants/stryker/main.ts selects the files. StrykerJS does not mutate decorators and numbers, so
// tables of tests cover the limits of requests (libs/contracts/src/http/*.spec.ts).

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  jest: { configFile: 'tools/mutants/stryker/jest.config.mjs', enableFindRelatedTests: true },
  coverageAnalysis: 'perTest',
  // Jest compiles with swc, which checks no types.
  disableTypeChecks: false,
  // main.ts prints the mutants that survived.
  reporters: ['progress-append-only', 'json'],
  logLevel: 'warn',
  warnings: { slow: false },
  // tools/mutants/stryker/main.ts decides, so Stryker itself never fails a run.
  thresholds: { high: 90, low: 90, break: null },
  // A slow test on a busy machine must not count as a mutant that hangs, so the limit grows with the duration of the
  // tests. A mutant that hangs costs the whole limit and a new worker; some files of the SDK have dozens of them.
  timeoutMS: 5_000,
  timeoutFactor: 3,
};
