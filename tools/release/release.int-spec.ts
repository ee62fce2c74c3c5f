/** A release changes versions in the whole repository, so its refusals are tested in a clone. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRelease } from './release.ts';

let clone: string;
const git = (...args: string[]): string => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
const release = (version: string): Promise<string> =>
  makeRelease({ root: clone, version, date: '2026-11-27', verify: ['false'] });

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'svc-release-'));
  execFileSync('git', ['clone', '--quiet', '--shared', join(import.meta.dirname, '../..'), clone]);
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

test.each(['', '1.0', 'v1.0.0', '1.0.0+build', '01.0.0', '1.0.0-rc..1'])('%j is not a version', async (version) => {
  await expect(release(version)).rejects.toThrow('is not a version');
});

test('a tree with changes and a version that has a tag are refused, and nothing is changed', async () => {
  const commit = git('rev-parse', 'HEAD');
  writeFileSync(join(clone, 'README.md'), 'changed');
  await expect(release('99.0.0')).rejects.toThrow('M README.md');
  git('checkout', '--quiet', 'README.md');
  git('tag', 'v99.0.0');
  await expect(release('99.0.0')).rejects.toThrow('v99.0.0');
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([commit, '']);
});
