// One configuration for every package, with these projects of Jest:
// `unit`: *.spec.ts, without servers; each test takes milliseconds.
// `integration`: *.int-spec.ts, on a PostgreSQL server that tools/svc/test/test.ts starts.
// `postgres-15`: repeats the integration tests that depend on the PostgreSQL version, on the oldest supported version.
// `system`: e2e/**/*.e2e-spec.ts, on the platform that `./svc up` starts.
// `timed-…`: the tests in *.timed.* files, which measure durations, so that no other test runs at the same time.

/** Tests of migrations, query plans, partitions and the messaging contract, and one flow of each service. */
export const DEPENDS_ON_POSTGRES_VERSION = [
  '{apps,libs}/**/{plans,entities,column-drift,data-source,planner-settings,preparing-client,room-for-updates}',
  'apps/payment-processor/src/migrations/*',
  'apps/payment-processor/src/ledger/{seal,verify}-ledger',
  'apps/all-in-one/src/{database-roles,schemas}',
  'apps/payment-processor/src/payments/ledger-privileges',
  'deploy/database/roles',
  'libs/messaging/src/{consumer/consumer,event-log/month-partitions,read-models/upsert-if-newer,relay/lease}',
  'libs/messaging/test/contract/embedded',
  'libs/service/src/administration/dead-letters',
  'apps/identity/src/sites/sites',
  'apps/hosted-gateway/src/pay/pay',
  'apps/payment-processor/src/hosted-payments/charge-card',
  'apps/payment-processor/src/partner-payments/partner-payments',
  'apps/webhook-dispatcher/src/delivery/delivery',
  'apps/payment-history/src/payments/{payments,payment-pages,rebuild}',
  'apps/merchant-retrieval/src/payments/{partitions,read-model}',
  'apps/code-decoder/src/invoices/invoices',
  'apps/demo-shop/src/orders/orders',
];

/** This test compares each schema with `schema.sql`, which is a dump of the oldest PostgreSQL version. */
const ONLY_ON_OLDEST = '**/all-in-one/src/schemas.int-spec.ts';

const shared = {
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/tools/jest/one-context.ts',
  transform: {
    '/node_modules/': '<rootDir>/tools/jest/third-party.cjs',
    '\\.tsx?$': ['@swc/jest', { jsc: swcTarget({ syntax: 'typescript', tsx: true, decorators: true }) }],
    '\\.m?js$': ['@swc/jest', { jsc: swcTarget({ syntax: 'ecmascript' }) }],
  },
  transformIgnorePatterns: [],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  moduleFileExtensions: ['js', 'ts', 'tsx', 'mjs', 'json', 'node'],
  testEnvironmentOptions: { customExportConditions: ['svc-source', 'node', 'node-addons'] },
  // `.data/` of this root contains Stryker's sandboxes. A sandbox is the root of another run, which must not ignore its
  // own files, so the pattern begins with <rootDir>.
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.data/'],
};

const platforms = {
  globalSetup: '<rootDir>/e2e/platform/stop-platforms.ts',
  globalTeardown: '<rootDir>/e2e/platform/stop-platforms.ts',
};

export default {
  // This limit only ends a test that hangs: no test must fail because a machine is slow. Tests that measure durations
  // have their own limits.
  testTimeout: 300_000 * Number(process.env.SVC_PATIENCE ?? 1),
  testSequencer: '<rootDir>/tools/jest/longest-first.mjs',
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/{apps,libs,bench,tools,deploy,docker,e2e}/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'integration',
      testMatch: [
        '<rootDir>/{apps,libs,tools,deploy,docker,examples}/**/*.int-spec.ts',
        '!**/*.timed.*',
        `!${ONLY_ON_OLDEST}`,
      ],
    },
    {
      ...shared,
      displayName: 'postgres-15',
      testMatch: DEPENDS_ON_POSTGRES_VERSION.map((pattern) => `<rootDir>/${pattern}.int-spec.ts`),
      setupFiles: ['<rootDir>/tools/svc/postgres/oldest-postgres.mjs'],
    },
    {
      ...shared,
      displayName: 'timed-integration',
      testMatch: ['<rootDir>/{apps,libs,tools,deploy,docker,examples}/**/*.timed.int-spec.ts'],
    },
    {
      ...shared,
      ...platforms,
      displayName: 'system',
      testMatch: ['<rootDir>/e2e/**/*.e2e-spec.ts', '!**/*.timed.*'],
    },
    { ...shared, ...platforms, displayName: 'timed-system', testMatch: ['<rootDir>/e2e/**/*.timed.e2e-spec.ts'] },
  ],
};

function swcTarget(parser) {
  return {
    parser,
    target: 'es2022',
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
      react: { runtime: 'automatic', importSource: 'preact' },
    },
  };
}
