import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLock } from './lock.ts';
import { findIdentity, isAlive, readCommandLine } from './process-identity.ts';

describe('the lock', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-lock-'));
    file = join(folder, 'run', 'svc.lock');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is held by one process, and is free after that process releases it', () => {
    const first = acquireLock(file);
    expect(acquireLock(file)).toEqual({ heldBy: process.pid });
    if ('release' in first) first.release();
    expect(acquireLock(file)).toHaveProperty('release');
  });

  it('is free when its process has ended, even if a later process has the same id', () => {
    const first = acquireLock(file);
    if ('release' in first) first.release();
    writeFileSync(file, JSON.stringify({ pid: process.pid, identity: 'started at another time' }));
    expect(acquireLock(file)).toHaveProperty('release');
    expect(readdirSync(join(folder, 'run'))).toEqual(['svc.lock']);
  });

  it('is free when its file is damaged', () => {
    const first = acquireLock(file);
    if ('release' in first) first.release();
    writeFileSync(file, '{"pid":');
    expect(acquireLock(file)).toHaveProperty('release');
  });
});

describe('the identity of a process', () => {
  it('contains its start time', () => {
    const identity = findIdentity(process.pid);
    expect(identity).toBeDefined();
    expect(isAlive(process.pid, identity ?? '')).toBe(true);
    expect(isAlive(process.pid, `${identity}0`)).toBe(false);
  });

  it.each([0, -1, Number.NaN, 2 ** 30])('is undefined for %s', (pid) => {
    expect(findIdentity(pid)).toBeUndefined();
    expect(readCommandLine(pid)).toBe('');
  });
});
