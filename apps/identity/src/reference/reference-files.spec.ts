import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ReferenceFiles } from './reference-files.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'svc-reference-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('finds pages and documents by name, uncompressed and compressed', () => {
  writeFileSync(join(folder, 'index.html'), '<p>Hello</p>');
  const found = new ReferenceFiles(folder).find('index.html');
  expect(found?.contentType).toBe('text/html; charset=utf-8');
  expect(found?.content.toString()).toBe('<p>Hello</p>');
  expect(gunzipSync(found!.compressed).toString()).toBe('<p>Hello</p>');
});

it.each(['LICENSE', '../secret.json', 'missing.html', '__proto__'])('finds nothing for %s', (name) => {
  writeFileSync(join(folder, 'LICENSE'), 'words');
  expect(new ReferenceFiles(folder).find(name)).toBeUndefined();
});

it('has no files in a program that was built without the reference', () => {
  expect(new ReferenceFiles(join(folder, 'not-built')).find('index.html')).toBeUndefined();
});
