/**
 * The connection of other commands with the supervisor: JSON lines over a Unix socket in the folder of process files. A
 * command that serves an app keeps its connection open. The system closes it when the command ends, also after kill -9,
 * so the supervisor needs no heartbeat.
 *
 * File permissions protect the socket: only the user who runs the supervisor can connect.
 */
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { OWNER_ONLY } from '../base/files.ts';
import type { SupervisedAppName } from '../processes/processes.ts';

type ControlRequest =
  | { readonly type: 'restart'; readonly apps: readonly SupervisedAppName[] }
  /** Reserves the app for the process until this connection ends. */
  | { readonly type: 'serve'; readonly app: SupervisedAppName; readonly pid: number }
  /** Starts the app with the program that the serving command has built. */
  | { readonly type: 'reload' };

export type ControlReply =
  | RestartOutcome
  | { readonly type: 'serving' }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'reloaded'; readonly outcome: ReloadOutcome }
  /** The process of the served app has ended by itself. */
  | { readonly type: 'ended'; readonly reason: string }
  /** `./svc down` stops the platform. */
  | { readonly type: 'stopping' };

export interface RestartOutcome {
  readonly type: 'restarted';
  readonly restarted: SupervisedAppName[];
  /** The app that did not become ready in time. The supervisor did not restart the later apps of the list. */
  readonly failed: SupervisedAppName | undefined;
}

/** `superseded`: a later reload has begun, or the connection has ended. */
export type ReloadOutcome = 'ready' | 'ended' | 'not ready' | 'superseded';

const SOCKET = 'supervisor.sock';

class ControlConnection<Incoming, Outgoing> {
  private readonly socket: Socket;
  private readonly lines: string[] = [];
  private hasEnded = false;
  /** Called when a line has arrived, or the connection has ended. */
  private wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    const reader = createInterface({ input: socket });
    reader.on('line', (line) => {
      this.lines.push(line);
      this.wake();
    });
    // The other end may close the connection at any time, even while this end writes. readline repeats this error.
    for (const source of [socket, reader]) source.on('error', () => socket.destroy());
    socket.once('close', () => {
      reader.close();
      this.hasEnded = true;
      this.wake();
    });
  }

  send(message: Outgoing): void {
    if (!this.socket.destroyed) this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message; undefined when the connection has ended. */
  async receive(): Promise<Incoming | undefined> {
    while (this.lines.length === 0 && !this.hasEnded) await new Promise<void>((resolve) => (this.wake = resolve));
    const line = this.lines.shift();
    if (line === undefined) return undefined;
    try {
      return JSON.parse(line) as Incoming;
    } catch {
      this.close();
      return undefined;
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

export type SupervisorConnection = ControlConnection<ControlReply, ControlRequest>;
export type CommandConnection = ControlConnection<ControlRequest, ControlReply>;

/** Listens for commands. Replaces the socket of a killed supervisor. */
export async function listenForCommands(
  folder: string,
  onConnection: (connection: CommandConnection) => void,
): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const server = createServer((socket) => onConnection(new ControlConnection(socket)));
  inFolder(folder, () => {
    rmSync(SOCKET, { force: true });
    server.listen(SOCKET);
    chmodSync(SOCKET, OWNER_ONLY);
  });
  await once(server, 'listening');
  return server;
}

/** Undefined when no supervisor listens. */
export async function connectToSupervisor(folder: string): Promise<SupervisorConnection | undefined> {
  try {
    const socket = inFolder(folder, () => connect(SOCKET));
    await once(socket, 'connect');
    return new ControlConnection(socket);
  } catch {
    return undefined;
  }
}

/**
 * The path of a socket may have at most 107 bytes, and a data folder may have a longer path. So the socket has a path
 * relative to the working directory while the system opens it.
 */
function inFolder<T>(folder: string, action: () => T): T {
  const previous = process.cwd();
  process.chdir(folder);
  try {
    return action();
  } finally {
    process.chdir(previous);
  }
}
