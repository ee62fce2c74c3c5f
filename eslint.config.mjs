import nx from '@nx/eslint-plugin';
import jest from 'eslint-plugin-jest';
import importSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

// All rules are errors. The boundary rule uses projects and their tags (package.json, "nx");
// .dependency-cruiser.cjs has the rules inside an app.

const SPECS = ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', 'apps/*/test/**', 'libs/*/test/**', 'e2e/**'];

/**
 * Allowed imports of each kind of project. An app never imports an app: shared code is a lib, and messages are
 * contracts.
 */
const allowedImports = (...extra) => [
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: ['type:platform', 'type:kernel', 'type:contracts', 'type:sdk', ...extra],
  },
  {
    sourceTag: 'type:simulator',
    onlyDependOnLibsWithTags: ['type:platform', ...extra],
  },
  {
    sourceTag: 'type:host',
    onlyDependOnLibsWithTags: [
      'type:app',
      'type:simulator',
      'type:platform',
      'type:kernel',
      'type:contracts',
      ...extra,
    ],
  },
  {
    sourceTag: 'type:platform',
    onlyDependOnLibsWithTags: ['type:platform', 'type:kernel', 'type:contracts', ...extra],
  },
  { sourceTag: 'type:kernel', onlyDependOnLibsWithTags: ['type:contracts'] },
  { sourceTag: 'type:contracts', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'type:sdk', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'type:example', onlyDependOnLibsWithTags: ['type:sdk'] },
  { sourceTag: 'type:testing', onlyDependOnLibsWithTags: ['type:platform', 'type:kernel', 'type:contracts'] },
  {
    sourceTag: 'type:bench',
    onlyDependOnLibsWithTags: ['type:contracts', 'type:kernel', 'type:sdk', 'type:simulator'],
  },
  { sourceTag: 'type:e2e', onlyDependOnLibsWithTags: ['type:testing', 'type:sdk', 'type:contracts', 'type:kernel'] },
];

const createBoundaryRule = (depConstraints) => [
  'error',
  {
    depConstraints,
    // System tests and the benchmark import code of ./svc; tests of all services run parts of the benchmark; the attacker
    // of the benchmark imports the solver of the payment page; tests of the page import its messages.
    allow: [
      '^(\\.\\./)+tools/svc/',
      '^(\\.\\./)+bench/(card-testing|history|platforms|retrieval)/',
      '^(\\.\\./)+apps/hosted-gateway/(browser|src)/challenge/',
      '^\\.\\./apps/hosted-gateway/src/languages/',
      // bench/memory measures the apps with the limits of their containers.
      '^\\.\\./\\.\\./deploy/(apps|figures)\\.ts$',
      // The drill of the alerts reads their rules and runbooks.
      '^\\.\\./\\.\\./deploy/observability/',
    ],
    enforceBuildableLibDependency: false,
    // Only specs import in these circles: the constraints above and tsc --build prevent circles in production code.
    ignoredCircularDependencies: [
      ['@svc/messaging', '@svc/testing'],
      ['@svc/service', '@svc/testing'],
      ['@svc/auth', '@svc/testing'],
      ['@svc/auth', '@svc/service'],
      ['@svc/persistence', '@svc/testing'],
    ],
  },
];

/** The list of libs/contracts/src/metrics names every metric, and @svc/kernel creates no other. */
const METRICS_OF_LIST = {
  name: '@opentelemetry/api',
  importNames: ['metrics'],
  message: 'Add the metric to libs/contracts/src/metrics, and create it with @svc/kernel.',
};

/** The first words of an SQL statement. */
const SQL_TEXT = '/^\\s*(WITH|SELECT|INSERT INTO|UPDATE|DELETE FROM|LOCK TABLE|SET LOCAL|TRUNCATE)\\s/';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '.data/**',
      '.nx/**',
      'coverage/**',
      'tools/checks/fixtures/**',
      '**/*.{js,cjs,mjs}',
    ],
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    plugins: { '@nx': nx, 'import-sort': importSort },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { parserOptions: { project: ['./tsconfig.spec.json'], tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@nx/enforce-module-boundaries': createBoundaryRule(allowedImports()),
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70 }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'all' },
      ],
      // The order of imports: side effects, Node.js, packages, folders above, this folder. No empty lines between them.
      'import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^\\.\\.', '^\\.']] }],
      eqeqeq: 'error',
      'no-console': 'error',

      // A method that implements an async interface needs no await; Nest uses empty module classes.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
    },
  },
  {
    // Command-line tools print to a terminal, and a process that fails to start has no logger yet.
    files: [
      'tools/**/*.ts',
      'deploy/**/*.ts',
      'docker/**/*.ts',
      'libs/service/src/run*.ts',
      'apps/*/src/main.ts',
      'apps/*/src/migrate.ts',
      'apps/*/browser/build.ts',
      'e2e/**/*.ts',
      'bench/**/*.ts',
      'examples/**/*.ts',
    ],
    rules: { 'no-console': 'off' },
  },
  {
    // A migration is one long SQL statement: the whole schema of a service.
    files: ['**/migrations/**/*.ts'],
    rules: { 'max-lines': 'off', 'max-lines-per-function': 'off' },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: ['libs/kernel/src/metrics/metrics.ts', 'libs/testing/**', ...SPECS],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [METRICS_OF_LIST],
        },
      ],
    },
  },
  {
    // In apps, SQL statements are only in *.repository.ts and *.query.ts (ADR 4). Libs are not restricted.
    files: ['apps/*/src/**/*.ts'],
    ignores: ['**/*.repository.ts', '**/*.query.ts', '**/migrations/**', 'apps/pos-transformer/src/store/schema.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'CallExpression[callee.property.name=/^(query|createQueryBuilder|createQueryRunner|getRepository)$/]',
          'CallExpression[callee.name=/^(namedStatement|statementWithEvents)$/]',
          `Literal[value=${SQL_TEXT}]`,
          `TemplateElement[value.raw=${SQL_TEXT}]`,
        ].map((selector) => ({ selector, message: 'Statements are in *.repository.ts and *.query.ts (ADR 4).' })),
      ],
    },
  },
  {
    files: ['apps/demo-shop/**', 'apps/pos-transformer/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            METRICS_OF_LIST,
            ...['@svc/auth', '@svc/contracts'].map((name) => ({
              name,
              message: 'A merchant’s program uses the public API and the SDK, no internal code.',
            })),
          ],
        },
      ],
    },
  },
  {
    files: SPECS,
    rules: {
      '@nx/enforce-module-boundaries': createBoundaryRule(allowedImports('type:testing', 'type:simulator')),
      'max-lines-per-function': 'off',
      // A test may read untyped values from a response: its expectations check them.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.name=/^(sleep|delay|setTimeout|setInterval)$/]',
          message: 'Step the worker, move the clock, or poll a condition with a deadline (waitUntil). See letTimePass.',
        },
        {
          selector: 'ImportDeclaration[source.value=/^(node:)?timers(\\u002Fpromises)?$/]',
          message: 'Step the worker, move the clock, or poll a condition with a deadline (waitUntil). See letTimePass.',
        },
        {
          selector: 'MemberExpression[property.name=/^(todo|failing)$/][object.name=/^(describe|test|it)$/]',
          message: 'Run every test, or delete it.',
        },
        {
          selector: 'CallExpression[callee.property.name="startTransaction"]',
          message: 'Use openTransaction or holdLocks of @svc/testing, which end the transaction of a failed test too.',
        },
      ],
    },
  },
  {
    // A test that cannot fail tests nothing.
    files: SPECS,
    plugins: { jest },
    rules: {
      // Assertions of this repository are named expectSomething. The other names are browser assertions, which throw.
      'jest/expect-expect': [
        'error',
        {
          assertFunctionNames: ['expect', 'expect*', '**.expect*', 'waitForHeading'],
        },
      ],
      'jest/no-conditional-expect': 'error',
      'jest/valid-expect': 'error',
      'jest/valid-expect-in-promise': 'error',
      'jest/valid-expect-with-promise': 'error',
      'jest/no-unneeded-async-expect-function': 'error',
      'jest/no-unnecessary-assertion': 'error',
      'jest/require-to-throw-message': 'error',
      'jest/no-error-equal': 'error',
      'jest/no-focused-tests': 'error',
      'jest/no-disabled-tests': 'error',
      'jest/no-commented-out-tests': 'error',
      'jest/no-identical-title': 'error',
      'jest/valid-title': 'error',
      'jest/valid-describe-callback': 'error',
      'jest/valid-mock-module-path': 'error',
      'jest/no-duplicate-hooks': 'error',
      'jest/no-done-callback': 'error',
      'jest/no-jasmine-globals': 'error',
      'jest/no-test-return-statement': 'error',
      'jest/no-test-prefixes': 'error',
      'jest/no-alias-methods': 'error',
      'jest/no-interpolation-in-snapshots': 'error',
      // These matchers print both values; a comparison inside expect() would only print true or false.
      'jest/prefer-comparison-matcher': 'error',
      'jest/prefer-equality-matcher': 'error',
      'jest/prefer-to-be': 'error',
      'jest/prefer-to-contain': 'error',
      'jest/prefer-to-have-length': 'error',
    },
  },
  {
    // Only for files with tests: helper files export functions, and contain expectations outside tests.
    files: ['**/*{.,int-,e2e-}spec.ts'],
    rules: {
      'jest/no-export': 'error',
      // An expectation in the body of a describe fails no test.
      'jest/no-standalone-expect': [
        'error',
        { additionalTestBlockFunctions: ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'] },
      ],
    },
  },
);
