// Rules for imports between the files of an app. ESLint's boundary rule checks imports between projects
// (eslint.config.mjs).

/** Files such as `payments/payment.ts`, named after the noun of their folder: they contain its business rules. */
const NOUN_FILE = '^(?:apps|tools/checks/fixtures)/[^/]+/src/([^/]+)s/\\1\\.ts$';

/** The feature folders of payment-processor. Each may import only the folders before it. */
const FEATURE_LAYERS = ['payables', 'payments', 'verifications|reversals', 'jobs', 'hosted-payments|partner-payments'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Merge two files that import each other, or move their shared code into a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...FEATURE_LAYERS.slice(1).map((above, index) => ({
      name: 'features-in-layers',
      comment:
        'In payment-processor payables, payments, verifications and reversals, jobs and callers build on each other in this order.',
      severity: 'error',
      from: {
        path: `^(?:apps|tools/checks/fixtures)/([^/]+)/src/(?:${FEATURE_LAYERS.slice(0, index + 1).join('|')})/`,
        pathNot: '\\.(int-)?spec\\.ts$',
      },
      to: { path: `^(?:apps|tools/checks/fixtures)/$1/src/(?:${above})/` },
    })),
    {
      name: 'rows-stay-home',
      comment: 'A row type describes a table, and is used only in its folder. Other folders use the types of the noun.',
      severity: 'error',
      from: { path: '^(?:apps|tools/checks/fixtures)/([^/]+/src/[^/]+)/', pathNot: '\\.int-spec\\.ts$' },
      to: { path: '\\.row\\.ts$', pathNot: '^(?:apps|tools/checks/fixtures)/$1/' },
    },
    {
      name: 'rows-belong-to-repositories',
      comment: 'Only a repository reads and writes a table (ADR 4). index.ts lists the entities for the data source.',
      severity: 'error',
      from: {
        path: '^(?:apps|tools/checks/fixtures)/[^/]+/src/',
        pathNot: '\\.repository\\.ts$|spec\\.ts$|^apps/[^/]+/src/index\\.ts$',
      },
      to: { path: '\\.row\\.ts$' },
    },
    {
      name: 'domain-is-pure',
      comment: 'Business rules are plain TypeScript, without framework and database, so that tests take milliseconds.',
      severity: 'error',
      from: { path: NOUN_FILE },
      to: { path: '(^|/)(@nestjs|typeorm|fastify|pg)/|\\.(row|repository|controller|consumer|guard|module)\\.ts$' },
    },
    {
      name: 'specs-are-not-imported',
      comment: 'Move code that production code needs out of the test.',
      severity: 'error',
      from: { pathNot: '(\\.(spec|int-spec|e2e-spec)\\.tsx?$|/test/)' },
      to: { path: '(\\.(spec|int-spec|e2e-spec)\\.tsx?$|^(apps|libs)/[^/]+/test/)' },
    },
    {
      name: 'everything-resolves',
      comment: 'The other rules cannot check an import that does not resolve.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.spec.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['svc-source', 'import', 'node', 'default', 'types'],
    },
  },
};
