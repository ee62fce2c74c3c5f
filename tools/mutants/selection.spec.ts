import { findPackage, isLastResort, isProduction, parseDiff } from './selection.ts';

it.each([
  'apps/a/src/x.ts',
  'apps/a/src/x.repository.ts',
  'apps/a/browser/pay.tsx',
  'libs/messaging/src/relay/lease.ts',
])('%s is production code', (file) => {
  expect(isProduction(file)).toBe(true);
});

it.each([
  'apps/a/src/x.spec.ts',
  'apps/a/src/x.int-spec.ts',
  'apps/a/src/main.ts',
  'apps/a/src/migrations/1-x.ts',
  'apps/a/test/gateway.ts',
  'libs/messaging/test/contract/log-contract.ts',
  'libs/testing/src/manual-clock.ts',
  'tools/svc/platform/up.ts',
  'apps/a/src/x.css',
])('%s is not production code', (file) => {
  expect(isProduction(file)).toBe(false);
});

it('isLastResort is true for specs that are slow or start RabbitMQ', () => {
  const specs = [
    'a/x.timed.int-spec.ts',
    'a/rabbitmq-x.int-spec.ts',
    'a/rabbitmq/x.int-spec.ts',
    'a/rabbitmq-x.spec.ts',
  ];
  expect(specs.map(isLastResort)).toEqual([true, true, false, false]);
});

it('findPackage returns the app or lib of a file', () => {
  expect(findPackage('apps/identity/src/users/user.ts')).toBe('apps/identity');
});

it('parseDiff returns the new lines of each file, and none for a deleted file', () => {
  const diff = [
    'diff --git a/apps/a.ts b/apps/a.ts',
    '--- a/apps/a.ts',
    '+++ b/apps/a.ts',
    '@@ -3,2 +3 @@ export',
    '+one',
    '@@ -10,0 +9,3 @@',
    '@@ -20,2 +22,0 @@',
    '--- a/b.ts',
    '+++ /dev/null',
    '@@ -1,2 +0,0 @@',
    '--- /dev/null',
    '+++ b/c.ts',
    '@@ -0,0 +1,2 @@',
  ].join('\n');
  const lines = parseDiff(diff);
  expect([...lines.keys()]).toEqual(['apps/a.ts', 'c.ts']);
  expect([...lines.get('apps/a.ts')!]).toEqual([3, 9, 10, 11]);
  expect([...lines.get('c.ts')!]).toEqual([1, 2]);
});
