/**
 * `./svc nx serve` takes the place of a supervised app. The apps are small programs, but the processes, the socket and
 * the signals are real.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../base/background-process.ts';
import { waitUntil } from '../base/wait-until.ts';
import { findFreePort } from '../processes/ports.ts';
import type { SupervisedAppName } from '../processes/processes.ts';
import { connectToSupervisor, type ControlReply, listenForCommands, type SupervisorConnection } from './control.ts';
import { SupervisedApp } from './supervised-app.ts';
import { Supervisor } from './supervisor.ts';

/** It is ready when it listens, and responds with its name and its variables. */
const APP = (name: string, isReady = true): string => `
require('node:http').createServer((request, response) => {
  response.statusCode = request.url !== '/health/ready' || ${isReady} ? 200 : 503;
  response.end(JSON.stringify({ program: '${name}', variable: process.env.SVC_VARIABLE }));
}).listen(process.env.SVC_PORT, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
`;
/** Records the messages of the supervisor in a file. */
const FRONT = `
const { appendFileSync } = require('node:fs');
require('node:http').createServer((request, response) => response.end()).listen(process.env.SVC_PORT, '127.0.0.1');
process.on('message', (message) => {
  appendFileSync(process.env.SVC_MESSAGES, JSON.stringify(message) + '\\n');
  if (message.close) process.send({ closed: message.close });
});
process.on('SIGTERM', () => process.exit(0));
`;
const CRASH = `process.exit(7);`;
/** A serving command, which a test kills. */
const COMMAND = `
const socket = require('node:net').connect('supervisor.sock');
socket.write('{"type":"serve","app":"identity","pid":' + process.pid + '}\\n{"type":"reload"}\\n');
socket.on('data', () => undefined);
`;

const WITHIN = { withinSeconds: 30 };

describe('a supervisor whose app a developer serves', () => {
  let root: string;
  let run: string;
  let port: number;
  let apps: Map<SupervisedAppName, SupervisedApp>;
  let supervisor: Supervisor;
  let server: Server;
  let logged: string[];
  let connections: SupervisorConnection[];
  let command: ChildProcess | undefined;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'svc-supervisor-'));
    // Longer than the path of a socket may be.
    run = join(root, 'a'.repeat(100), 'run');
    mkdirSync(run, { recursive: true });
    port = await findFreePort();
    logged = [];
    connections = [];
    const log = (_level: string, message: string) => logged.push(message);
    const newApp = (app: SupervisedAppName, program: string, appPort: number) =>
      new SupervisedApp({
        app,
        root,
        program: [writeProgram(`${app}.cjs`, program)],
        readVariables: () => ({
          SVC_PORT: String(appPort),
          SVC_VARIABLE: `of ${app}`,
          SVC_MESSAGES: join(root, 'messages'),
        }),
        port: appPort,
        log,
        onChange: () => undefined,
      });
    apps = new Map([
      ['identity', newApp('identity', APP('own'), port)],
      ['front', newApp('front', FRONT, await findFreePort())],
    ]);
    supervisor = new Supervisor({ apps, developersProgram: () => [join(root, 'served.cjs')], log });
    server = await listenForCommands(run, (connection) => void supervisor.handle(connection));
    supervisor.start();
    for (const app of apps.values()) expect(await app.waitUntilReady()).toBe('ready');
  });

  afterEach(async () => {
    command?.kill('SIGKILL');
    for (const connection of connections) connection.close();
    await supervisor.stop();
    server.close();
    rmSync(root, { recursive: true });
  });

  function writeProgram(file: string, program: string): string {
    writeFileSync(join(root, file), program);
    return join(root, file);
  }

  async function connect(): Promise<SupervisorConnection> {
    const connection = await connectToSupervisor(run);
    connections.push(connection!);
    return connection!;
  }

  /** Connects, reserves the app, and replaces its program. */
  async function serve(program = APP('served')): Promise<SupervisorConnection> {
    writeProgram('served.cjs', program);
    const connection = await connect();
    connection.send({ type: 'serve', app: 'identity', pid: process.pid });
    expect(await connection.receive()).toEqual({ type: 'serving' });
    connection.send({ type: 'reload' });
    return connection;
  }

  async function respond(): Promise<unknown> {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/`)).json();
    } catch {
      return undefined;
    }
  }

  const ownProgram = async () => {
    const body = (await respond()) as { program: string } | undefined;
    return body?.program === 'own';
  };
  const READY: ControlReply = { type: 'reloaded', outcome: 'ready' };

  it('runs the developer’s program at the port and with the variables of the app, while the front holds requests', async () => {
    const connection = await serve();
    expect(await connection.receive()).toEqual(READY);
    expect(await respond()).toEqual({ program: 'served', variable: 'of identity' });
    expect(apps.get('identity')?.state).toMatchObject({ servedBy: process.pid, port, restarts: 1 });
    await waitUntil(() => readFileSync(join(root, 'messages'), 'utf8').split('\n').length > 2, WITHIN);
    expect(readFileSync(join(root, 'messages'), 'utf8')).toBe('{"close":"identity"}\n{"open":"identity"}\n');
    expect(logged).toContain(`restarting with the program of a developer (./svc nx serve, process ${process.pid})`);
  });

  it('runs the changed program after a reload', async () => {
    const connection = await serve();
    expect(await connection.receive()).toEqual(READY);
    writeProgram('served.cjs', APP('changed'));
    connection.send({ type: 'reload' });
    expect(await connection.receive()).toEqual(READY);
    expect(await respond()).toMatchObject({ program: 'changed' });
  });

  it('runs the app’s own program again when the connection ends', async () => {
    const connection = await serve();
    expect(await connection.receive()).toEqual(READY);
    connection.close();
    expect(await waitUntil(ownProgram, WITHIN)).toBe(true);
    expect(apps.get('identity')?.state).not.toHaveProperty('servedBy');
    expect(logged).toContain(`./svc nx serve (process ${process.pid}) has ended; the app's own program runs again`);
  });

  it('runs the app’s own program again after a kill -9 of the serving command', async () => {
    writeProgram('served.cjs', APP('served'));
    command = spawn(process.execPath, [writeProgram('command.cjs', COMMAND)], { cwd: run });
    expect(await waitUntil(() => apps.get('identity')?.state?.servedBy === command?.pid, WITHIN)).toBe(true);
    command.kill('SIGKILL');
    await once(command, 'exit');
    expect(
      await waitUntil(async () => logged.some((line) => line.includes('runs again')) && ownProgram(), WITHIN),
    ).toBe(true);
  });

  it('runs the app’s own program again when the command ends while its program is not ready', async () => {
    const connection = await serve(APP('never ready', false));
    await waitUntil(async () => (await respond()) !== undefined && apps.get('identity')?.state?.servedBy, WITHIN);
    connection.close();
    expect(await waitUntil(ownProgram, WITHIN)).toBe(true);
  });

  it('does not wait for a program that is not ready when the next one has been built', async () => {
    const connection = await serve(APP('never ready', false));
    await waitUntil(async () => JSON.stringify(await respond())?.includes('never ready'), WITHIN);
    writeProgram('served.cjs', APP('changed'));
    connection.send({ type: 'reload' });
    expect(await connection.receive()).toEqual({ type: 'reloaded', outcome: 'superseded' });
    expect(await connection.receive()).toEqual(READY);
  });

  it('does not restart a developer’s program that ends, but starts the next one', async () => {
    const connection = await serve(CRASH);
    expect(await connection.receive()).toEqual({ type: 'ended', reason: 'exit code 7' });
    expect(await connection.receive()).toEqual({ type: 'reloaded', outcome: 'ended' });
    expect(apps.get('identity')?.state).toMatchObject({ pid: 0, servedBy: process.pid });
    writeProgram('served.cjs', APP('mended'));
    connection.send({ type: 'reload' });
    expect(await connection.receive()).toEqual(READY);
    expect(apps.get('identity')?.restarts).toBe(2);
  });

  it('lets only one command serve an app, until its connection ends', async () => {
    const first = await serve();
    const second = await connect();
    second.send({ type: 'serve', app: 'identity', pid: 2 });
    const reason = `process ${process.pid} already serves identity`;
    expect(await second.receive()).toEqual({ type: 'refused', reason });
    // Without a reservation a reload has no effect.
    second.send({ type: 'reload' });
    first.close();
    await waitUntil(ownProgram, WITHIN);
    second.send({ type: 'serve', app: 'identity', pid: 2 });
    expect(await second.receive()).toEqual({ type: 'serving' });
  });

  it('refuses an app that does not exist', async () => {
    const connection = await connect();
    connection.send({ type: 'serve', app: 'pos-transformer' as SupervisedAppName, pid: 1 });
    expect(await connection.receive()).toEqual({ type: 'refused', reason: 'there is no app "pos-transformer"' });
  });

  it('does not restart an app that was reserved, but whose program was never built', async () => {
    const connection = await connect();
    connection.send({ type: 'serve', app: 'identity', pid: process.pid });
    expect(await connection.receive()).toEqual({ type: 'serving' });
    const before = apps.get('identity')?.state;
    connection.close();
    // Another command is handled after the end of the first.
    expect(await (await serve()).receive()).toEqual(READY);
    expect(apps.get('identity')?.restarts).toBe((before?.restarts ?? 0) + 1);
  });

  it('restarts the developer’s program for ./svc restart', async () => {
    expect(await (await serve()).receive()).toEqual(READY);
    const restart = await connect();
    restart.send({ type: 'restart', apps: ['identity'] });
    expect(await restart.receive()).toEqual({ type: 'restarted', restarted: ['identity'], failed: undefined });
    expect(await respond()).toMatchObject({ program: 'served' });
  });

  it('tells the command that the platform stops, and leaves no process', async () => {
    const connection = await serve();
    expect(await connection.receive()).toEqual(READY);
    const served = apps.get('identity')?.state;
    connection.send({ type: 'reload' });
    await supervisor.stop();
    expect(await connection.receive()).toEqual({ type: 'stopping' });
    expect(isRunning(served)).toBe(false);
    expect(await waitUntil(async () => (await respond()) === undefined, WITHIN)).toBe(true);
    expect(apps.get('identity')?.running).toBeUndefined();
  });

  it('ends the connection of a command that sends no JSON, and continues to run', async () => {
    command = spawn(process.execPath, ['-e', `require('node:net').connect('supervisor.sock').end('{"\\n').resume()`], {
      cwd: run,
    });
    expect(await once(command, 'exit')).toEqual([0, null]);
    expect(await (await serve()).receive()).toEqual(READY);
  });
});
