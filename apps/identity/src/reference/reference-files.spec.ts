import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ReferenceFiles } from './reference-files.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'svc-reference-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('ReferenceFiles.find returns a file by its name, uncompressed and compressed', () => {
  writeFileSync(join(folder, 'index.html'), '<p>Hello</p>');
  const file = new ReferenceFiles(folder).find('index.html');
  expect(file?.contentType).toBe('text/html; charset=utf-8');
  expect(file?.content.toString()).toBe('<p>Hello</p>');
  expect(gunzipSync(file!.compressed).toString()).toBe('<p>Hello</p>');
});

it.each(['LICENSE', '../secret.json', 'missing.html', '__proto__'])(
  'ReferenceFiles.find returns undefined for the name %s',
  (name) => {
    writeFileSync(join(folder, 'LICENSE'), 'text');
    expect(new ReferenceFiles(folder).find(name)).toBeUndefined();
  },
);

it('ReferenceFiles.find returns undefined in a build without the reference', () => {
  expect(new ReferenceFiles(join(folder, 'not-built')).find('index.html')).toBeUndefined();
});
