import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSite } from './site.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-reference-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The inode of each file: it changes when a file is replaced. */
const inodes = (): Record<string, number> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).ino]));

it('writes each page with the document that it shows', () => {
  writeSite(folder);
  const documents = [
    ...readFileSync(join(folder, 'partner.html'), 'utf8').matchAll(/data-document="\/reference\/(.+?)"/g),
  ];
  expect(documents.map(([, name]) => name)).toEqual(['partner.openapi.json']);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['index.html', 'partner.openapi.json']));
});

it('replaces only what has changed, because a running service may read the folder meanwhile', () => {
  writeSite(folder);
  const before = inodes();
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  writeFileSync(join(folder, 'old.html'), 'a page of an earlier build');
  writeFileSync(join(folder, 'index.html'), 'half a page');
  const ofOtherBuild = 'merchant.html.12345.new';
  writeFileSync(join(folder, ofOtherBuild), 'half a page of a build that runs at the same time');

  writeSite(folder);
  const { 'index.html': replaced, [ofOtherBuild]: kept, ...others } = inodes();
  const { 'index.html': original, ...same } = before;
  expect(others).toEqual(same);
  expect([replaced === original, kept === undefined]).toEqual([false, false]);
  expect(readFileSync(join(folder, 'index.html'), 'utf8')).toBe(page);
});
