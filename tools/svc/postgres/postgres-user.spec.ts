import { listCandidates } from './postgres-user.ts';

const createPasswdFile = (...lines: string[]) => ['root:x:0:0:root:/root:/bin/bash', ...lines, ''].join('\n');
const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin';
const postgres = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash';

describe('the ways to run PostgreSQL as root', () => {
  it('begin with a user namespace, in which root remains the owner of the files', () => {
    expect(listCandidates(0, createPasswdFile())).toMatchObject([
      { uid: 0, gid: 0, prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000'] },
    ]);
  });

  it('continue with accounts that have a capability: first the account postgres, then the account nobody', () => {
    expect(listCandidates(0, createPasswdFile(nobody, postgres)).map(({ description }) => description)).toEqual([
      'in a user namespace',
      'as postgres with dac_override',
      'as postgres with dac_read_search',
      'as nobody with dac_override',
      'as nobody with dac_read_search',
      'as postgres',
      'as nobody',
    ]);
  });

  it('do not include an account that has the user id of root', () => {
    expect(listCandidates(0, createPasswdFile('postgres:x:0:0::/:/bin/sh'))).toHaveLength(1);
  });
});
