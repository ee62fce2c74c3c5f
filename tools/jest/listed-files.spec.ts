/** Files are listed by name in two places. A file that is renamed must not silently leave its list. */
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Imports a file without types. */
const importFile = async <T>(path: string) => (await import(join(ROOT, path))) as T;

it('each file that longest-first.mjs lists exists', async () => {
  const { FIRST } = await importFile<{ FIRST: readonly string[] }>('tools/jest/longest-first.mjs');
  expect(FIRST.length).toBeGreaterThan(0);
  expect(FIRST.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('each pattern of the tests that depend on the version of PostgreSQL, and each alternative in it, matches a file', async () => {
  const { DEPENDS_ON_POSTGRES_VERSION } = await importFile<{ DEPENDS_ON_POSTGRES_VERSION: readonly string[] }>(
    'jest.config.mjs',
  );
  const patterns = DEPENDS_ON_POSTGRES_VERSION.flatMap((pattern) => [pattern, ...listAlternatives(pattern)]);
  expect(patterns.length).toBeGreaterThan(DEPENDS_ON_POSTGRES_VERSION.length);
  const exclude = (path: string) => path.endsWith('node_modules');
  const hasFile = (pattern: string) => globSync(`${pattern}.int-spec.ts`, { cwd: ROOT, exclude }).length > 0;
  expect(patterns.filter((pattern) => !hasFile(pattern))).toEqual([]);
});

/** `a/{b,c}` as `a/b` and `a/c`. Of several groups, each is replaced alone. */
function listAlternatives(pattern: string): string[] {
  return [...pattern.matchAll(/\{([^{}]*)\}/g)].flatMap(({ 0: group, 1: alternatives }) =>
    alternatives!.split(',').map((alternative) => pattern.replace(group, alternative)),
  );
}
