import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findIdentity } from '../base/process-identity.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('./svc nx serve', () => {
  let dataDir: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-serve-'));
    const { SVC_CALLER: _caller, ...inherited } = process.env;
    env = { ...inherited, SVC_DATA_DIR: dataDir, NX_DAEMON: 'false' };
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  const serve = (app: string) => run('tools/svc/serve/main.ts', app);

  it('fails if the target fails', () => {
    const { status, stdout, stderr } = run('tools/svc/main.ts', 'nx', 'serve', 'all-in-one');
    expect([status, stdout + stderr]).toEqual([1, expect.stringContaining('svc: to run all-in-one use ./svc up')]);
    expect(stdout + stderr).toContain('Running target serve for project @svc/all-in-one failed');
  });

  it('names the apps if there is no such app', () => {
    const { status, stderr } = serve('@svc/pos-transformer');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^svc: there is no app "@svc\/pos-transformer"; there are simulated-acquirer, .*, front\n$/);
  });

  it.each(['embedded', 'rabbitmq'])('says what to do if the platform runs in the mode %s', (mode) => {
    mkdirSync(join(dataDir, 'run'));
    const services = { pid: process.pid, identity: findIdentity(process.pid), mode, ports: {} };
    writeFileSync(join(dataDir, 'run', 'services.json'), JSON.stringify(services));
    const { status, stderr } = serve('identity');
    expect([status, stderr]).toEqual([
      1,
      'svc: the platform runs with all services in one process, so no app of it can be replaced; ' +
        'run ./svc down, then ./svc up -d --distributed and ./svc nx serve identity (the data stays)\n',
    ]);
  });

  it('says what to do if the platform does not run', () => {
    const { status, stderr } = serve('identity');
    expect([status, stderr]).toEqual([1, 'svc: the platform does not run; run ./svc up -d --distributed before\n']);
  });
});
