import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimFolder } from './memory-folder.ts';

const parent = mkdtempSync(join(tmpdir(), 'svc-memory-'));
const folder = join(parent, 'run');
beforeEach(() => mkdirSync(parent, { recursive: true }));
afterEach(() => rmSync(parent, { recursive: true }));

it('claimFolder creates a folder, and accepts a folder that this user has created before', () => {
  claimFolder(folder);
  expect(existsSync(folder)).toBe(true);
  expect(() => claimFolder(folder)).not.toThrow();
});

it('claimFolder refuses a folder of another user', () => {
  mkdirSync(folder);
  expect(() => claimFolder(folder, process.getuid!() + 1)).toThrow('is not a folder of this user');
});

it('claimFolder refuses a link to a folder of this user', () => {
  symlinkSync(tmpdir(), folder);
  expect(() => claimFolder(folder)).toThrow('is not a folder of this user');
});

it('claimFolder does not hide that a folder cannot be created', () => {
  expect(() => claimFolder(join(folder, 'below'))).toThrow('ENOENT');
});
