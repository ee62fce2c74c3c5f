/** Another process of a service of a distributed platform. A test may kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { findFreePort, waitUntil } from '@svc/testing';
import { environmentFor } from '../../tools/svc/processes/env-files.ts';
import { programArguments } from '../../tools/svc/processes/programs.ts';
import type { Service } from '../../tools/svc/settings/settings.ts';
import { type Platform, ROOT } from './platform.js';

type Variables = Record<string, string>;

const MAX_STARTS = 3;

export class ServiceReplica {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /** The environment variables of the platform's own process of this service. */
  static variablesOf(platform: Platform, service: Service): Variables {
    return parseEnv(readFileSync(join(platform.dataDir, 'env', `${service}.env`), 'utf8')) as Variables;
  }

  /**
   * Starts the process, and returns when it is ready. A process that ends instead is started again, as the supervisor
   * does: on a busy machine a start can exceed the timeout for its connection to PostgreSQL.
   */
  static async start(platform: Platform, service: Service, changes: Variables = {}): Promise<ServiceReplica> {
    for (let starts = 1; ; starts++) {
      const started = await ServiceReplica.startOnce(platform, service, changes);
      if (started instanceof ServiceReplica) return started;
      if (starts === MAX_STARTS)
        throw new Error(`${MAX_STARTS} starts of another ${service} failed: ${started.errors}`);
      process.stdout.write(`another ${service} is started again, because it ended: ${started.errors}\n`);
    }
  }

  /** Returns the output to stderr of a process that ends before it is ready. */
  private static async startOnce(
    platform: Platform,
    service: Service,
    changes: Variables,
  ): Promise<ServiceReplica | { readonly errors: string }> {
    const port = await findFreePort();
    const variables = { ...ServiceReplica.variablesOf(platform, service), ...changes, SVC_PORT: String(port) };
    const child = spawn(process.execPath, programArguments(ROOT, service), {
      cwd: ROOT,
      env: environmentFor(variables),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const replica = new ServiceReplica(child, `http://127.0.0.1:${port}`);
    return waitUntil(`another ${service}`, 60_000, async () => {
      if (child.exitCode !== null) return { errors };
      return (await fetch(`${replica.url}/health/ready`)).ok && replica;
    });
  }

  /** Kills the process with SIGKILL, also during a request. */
  kill(): void {
    this.process.kill('SIGKILL');
  }

  /** Kills the process if it still runs, and waits for its end. */
  async end(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.kill();
    await ended;
  }
}
