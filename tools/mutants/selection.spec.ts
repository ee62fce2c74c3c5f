import { join } from 'node:path';
import { findProductionFiles, parseDiff, selectSpecs } from './selection.ts';

const root = join(import.meta.dirname, '..', '..');

it('findProductionFiles finds no tests, helpers of tests and migrations', () => {
  const files = findProductionFiles(root, ['libs/messaging', 'libs/testing', 'apps/identity/']);
  expect(files).toContain('libs/messaging/src/relay/lease.ts');
  expect(files.filter((file) => /spec|\/test\/|migrations|testing/.test(file))).toEqual([]);
});

it('findProductionFiles refuses a path that does not exist', () => {
  expect(() => findProductionFiles(root, ['apps/none'])).toThrow('there is no apps/none');
});

it('selectSpecs selects the specs of the package, the nearest first, without those that cannot judge', () => {
  const related = [
    'apps/a/src/plans.int-spec.ts',
    'apps/a/src/keys/lease.timed.int-spec.ts',
    'apps/a/src/rabbitmq-x.int-spec.ts',
    'apps/b/src/keys/x.spec.ts',
    'apps/a/src/sites/sites.int-spec.ts',
    'apps/a/src/keys/keys.int-spec.ts',
  ];
  expect(selectSpecs('apps/a/src/keys/key.repository.ts', related)).toEqual([
    'apps/a/src/keys/keys.int-spec.ts',
    'apps/a/src/sites/sites.int-spec.ts',
  ]);
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
