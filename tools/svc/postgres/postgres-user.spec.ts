import { listCandidates } from './postgres-user.ts';

const passwd = (...lines: string[]) => ['root:x:0:0:root:/root:/bin/bash', ...lines, ''].join('\n');
const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin';
const postgres = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash';

describe('the ways to run PostgreSQL as root', () => {
  it('begin with a user namespace, which keeps the owner of files', () => {
    expect(listCandidates(0, passwd())).toMatchObject([
      { uid: 0, gid: 0, prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000'] },
    ]);
  });

  it('prefer the postgres account to nobody, and a capability to none', () => {
    expect(listCandidates(0, passwd(nobody, postgres)).map(({ description }) => description)).toEqual([
      'in a user namespace',
      'as postgres with dac_override',
      'as postgres with dac_read_search',
      'as nobody with dac_override',
      'as nobody with dac_read_search',
      'as postgres',
      'as nobody',
    ]);
  });

  it('never use an account that is root under another name', () => {
    expect(listCandidates(0, passwd('postgres:x:0:0::/:/bin/sh'))).toHaveLength(1);
  });
});
