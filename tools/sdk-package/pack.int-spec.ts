/** Tests the tarball that `./svc nx pack sdk` builds. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';

const folder = mkdtempSync(join(tmpdir(), 'svc-sdk-'));
const staged = join(folder, 'sdk-package');
let tarball: Buffer;
beforeAll(() => {
  const tarballPath = execFileSync(process.execPath, [join(import.meta.dirname, 'pack.ts'), folder], {
    encoding: 'utf8',
  });
  tarball = readFileSync(tarballPath.trim());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the types of the SDK package are correct for every kind of import', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  expect(analysis).toMatchObject({ packageName: '@svc/sdk', problems: [] });
  expect(Object.keys((analysis as { entrypoints: object }).entrypoints)).toEqual(['.', './card', './package.json']);
});

test('publint finds no problem in the SDK package', async () => {
  const { messages } = await publint({ pkgDir: staged, pack: 'npm', strict: true });
  expect(messages).toEqual([]);
});

test('the SDK package contains only the compiled code, the command and the documents', () => {
  const names = createPackageFromTarballData(tarball)
    .listFiles()
    .map((file) => file.replace('/node_modules/@svc/sdk/', ''));
  expect(names.filter((file) => !/^dist\/(commonjs\/)?([a-z-]+\/)?[a-z-]+\.(js|d\.ts)$/.test(file)).sort()).toEqual([
    'README.md',
    'bin/svc-webhook.js',
    'dist/commonjs/package.json',
    'package.json',
    'webhooks.md',
  ]);
  expect(names.filter((file) => file.includes('spec'))).toEqual([]);
});

test('the documents of the SDK package link only to files in the package', () => {
  for (const file of ['README.md', 'webhooks.md'])
    expect(readFileSync(join(staged, file), 'utf8')).not.toMatch(/\]\((\.\.|\/)/);
});
