import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findIdentity } from '../base/process-identity.ts';
import { waitUntil } from '../base/wait-until.ts';
import { findFreePort, isListening } from '../processes/ports.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const WITHIN = { withinSeconds: 60 };

describe('./svc nx serve', () => {
  let dataDir: string;
  let env: NodeJS.ProcessEnv;
  let port: number;
  let command: ChildProcess | undefined;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-serve-'));
    port = await findFreePort();
    const { SVC_CALLER: _caller, ...inherited } = process.env;
    env = { ...inherited, SVC_DATA_DIR: dataDir, SVC_PORT_BASE: String(port - 4), NX_DAEMON: 'false' };
  });
  afterEach(async () => {
    command?.kill('SIGKILL');
    await waitUntil(async () => !(await isListening('127.0.0.1', port)), WITHIN);
    rmSync(dataDir, { recursive: true });
  });

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

  it('runs an app alone if the platform does not run, and the app ends with the command, also after kill -9', async () => {
    command = spawn(process.execPath, ['tools/svc/serve/main.ts', 'simulated-acquirer'], { cwd: root, env });
    let output = '';
    command.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitUntil(() => output.includes('is ready with these sources'), WITHIN);
    expect(output).toContain(
      `The platform does not run, so simulated-acquirer runs alone, at http://127.0.0.1:${port}: without a broker`,
    );
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
    command.kill('SIGKILL');
    await once(command, 'exit');
    expect(await waitUntil(async () => !(await isListening('127.0.0.1', port)), WITHIN)).toBe(true);
  });

  it('ends when the process that started Nx has ended', async () => {
    const caller = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    const record = { pid: caller.pid, identity: findIdentity(caller.pid!) };
    env = { ...env, SVC_CALLER: JSON.stringify(record) };
    command = spawn(process.execPath, ['tools/svc/serve/main.ts', 'simulated-acquirer'], { cwd: root, env });
    await waitUntil(() => isListening('127.0.0.1', port), WITHIN);
    expect(await isListening('127.0.0.1', port)).toBe(true);
    const exit = once(command, 'exit');
    caller.kill('SIGKILL');
    expect(await exit).toEqual([0, null]);
  });
});
