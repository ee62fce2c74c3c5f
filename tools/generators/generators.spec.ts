import { join } from 'node:path';
import { FsTree } from 'nx/src/generators/tree';
import app from './app/generator.ts';
import feature from './feature/generator.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The files that a generator would write, none of which reaches the disk. */
async function runGenerators(...generators: ((tree: FsTree) => Promise<unknown>)[]): Promise<Map<string, string>> {
  const tree = new FsTree(ROOT, false);
  for (const generator of generators) await generator(tree);
  return new Map(tree.listChanges().map(({ path, content }) => [path, content?.toString() ?? '']));
}

test('a feature has a noun, a use case, a repository, tests and a migration after the newest', async () => {
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

test('a feature of a new app begins with its first migration', async () => {
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
  ['no app', { app: 'nowhere', name: 'gift-card' }, 'apps/nowhere is not an app'],
  ['a folder that exists', { app: 'demo-shop', name: 'order' }, 'apps/demo-shop/src/orders exists'],
])('a feature is refused: %s', async (_title, options, message) => {
  await expect(runGenerators((tree) => feature(tree, options))).rejects.toThrow(message);
});
