import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../base/background-process.ts';
import { waitUntil } from '../base/wait-until.ts';
import { findFreePort } from '../processes/ports.ts';
import { SupervisedApp } from './supervised-app.ts';

/** A minimal app: it is ready when it listens, and ends on SIGTERM. */
const PROGRAM = `
require('node:http').createServer((request, response) => {
  response.end(JSON.stringify({ variables: Object.keys(process.env).filter((name) => name.startsWith('SVC_')) }));
}).listen(process.env.SVC_PORT, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
`;

describe('a supervised app', () => {
  let root: string;
  let app: SupervisedApp;
  let port: number;
  let loggedMessages: string[];
  let changes: number;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'svc-supervised-'));
    const program = join(root, 'main.cjs');
    writeFileSync(program, PROGRAM);
    port = await findFreePort();
    loggedMessages = [];
    changes = 0;
    const log = (_level: string, message: string) => loggedMessages.push(message);
    app = new SupervisedApp({
      app: 'identity',
      root,
      program: [program],
      readVariables: () => ({ SVC_PORT: String(port) }),
      port,
      log,
      onChange: () => changes++,
    });
    app.start();
    expect(await app.waitUntilReady()).toBe('ready');
  });

  afterEach(async () => {
    await app.stop();
    rmSync(root, { recursive: true });
  });

  it('receives only the variables of its environment file, not those of ./svc', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(await response.json()).toEqual({ variables: ['SVC_PORT'] });
  });

  it('is restarted when it is killed, and the supervisor logs it', async () => {
    const first = app.running;
    process.kill(first?.pid ?? 0, 'SIGKILL');
    const second = await waitUntil(() => (app.running?.restarts === 1 ? app.running : undefined), {
      withinSeconds: 10,
    });
    expect(second?.pid).not.toBe(first?.pid);
    expect(await app.waitUntilReady()).toBe('ready');
    expect(loggedMessages).toEqual(['process ended unexpectedly; restarting it']);
    expect(changes).toBe(3); // The app was started, ended, and was started again.
  });

  it('is ready again after a planned restart, which is not logged as a failure', async () => {
    const first = app.running;
    expect(await app.restart()).toBe('ready');
    expect(app.running?.restarts).toBe(1);
    expect(isRunning(first)).toBe(false);
    expect(loggedMessages).toEqual([]);
  });

  it('is not started by a restart that had begun before it was closed', async () => {
    const restart = app.restart();
    await app.close();
    expect(await restart).toBe('ended');
    expect(app.running).toBeUndefined();
  });

  it('is not restarted after it was stopped', async () => {
    const first = app.running;
    await app.stop();
    expect(isRunning(first)).toBe(false);
    expect(app.running).toBeUndefined();
    expect(loggedMessages).toEqual([]);
  });
});
