import { join } from 'node:path';
import { FsTree } from 'nx/src/generators/tree';
import app from './app/generator.ts';
import feature from './feature/generator.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Runs generators without writing to the disk. Returns the contents of the files that they would write. */
async function runGenerators(...generators: ((tree: FsTree) => Promise<unknown>)[]): Promise<Map<string, string>> {
  const tree = new FsTree(ROOT, false);
  for (const generator of generators) await generator(tree);
  return new Map(tree.listChanges().map(({ path, content }) => [path, content?.toString() ?? '']));
}

test('a generated feature has a domain type, a use case, a repository, tests, and a new migration', async () => {
  const changes = await runGenerators((tree) => feature(tree, { app: 'demo-shop', name: 'gift-card' }));
  expect([...changes.keys()].sort()).toEqual([
    'apps/demo-shop/src/app.module.ts',
    'apps/demo-shop/src/gift-cards/create-gift-card.ts',
    'apps/demo-shop/src/gift-cards/gift-card.repository.ts',
    'apps/demo-shop/src/gift-cards/gift-card.spec.ts',
    'apps/demo-shop/src/gift-cards/gift-card.ts',
    'apps/demo-shop/src/gift-cards/gift-cards.int-spec.ts',
    'apps/demo-shop/src/index.ts',
    expect.stringMatching(/^apps\/demo-shop\/src\/migrations\/17635000050\d\d-gift-cards\.ts$/),
  ]);
  expect(changes.get('apps/demo-shop/src/app.module.ts')).toMatch(
    /providers: \[[^]*CreateGiftCard,\s+GiftCardRepository/,
  );
  expect(changes.get('apps/demo-shop/src/index.ts')).toMatch(/migrations: \[[^]*GiftCards17635000050\d\d/);
  expect([...changes.values()].join('')).not.toContain('<%');
});

test('the first feature of a generated app has the first migration of that app', async () => {
  const changes = await runGenerators(
    (tree) => app(tree, { name: 'payout-scheduler', description: 'Payouts of merchants, once a day' }),
    (tree) => feature(tree, { app: 'payout-scheduler', name: 'policy', plural: 'policies' }),
  );
  expect([...changes.keys()]).toContainEqual(
    expect.stringMatching(/payout-scheduler\/src\/migrations\/1763500\d{3}000-policies\.ts$/),
  );
  expect(changes.get('tsconfig.json')).toContain('apps/payout-scheduler');
});

test.each([
  ['the app does not exist', { app: 'nowhere', name: 'gift-card' }, 'apps/nowhere is not an app'],
  ['the folder exists', { app: 'demo-shop', name: 'order' }, 'apps/demo-shop/src/orders exists'],
])('a feature is not generated when %s', async (_reason, options, message) => {
  await expect(runGenerators((tree) => feature(tree, options))).rejects.toThrow(message);
});
