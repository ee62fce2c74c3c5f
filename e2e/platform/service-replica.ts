/** Another process of a service of a distributed platform. A test may kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { waitUntil } from '@svc/testing';
import { environmentFor } from '../../tools/svc/processes/env-files.ts';
import { findFreePort } from '../../tools/svc/processes/ports.ts';
import { programArguments } from '../../tools/svc/processes/programs.ts';
import type { Service } from '../../tools/svc/settings/settings.ts';
import { type Platform, ROOT } from './platform.js';

type Variables = Record<string, string>;

export class ServiceReplica {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /** The environment variables of the platform's own process of this service. */
  static variablesOf(platform: Platform, service: Service): Variables {
    return parseEnv(readFileSync(join(platform.dataDir, 'env', `${service}.env`), 'utf8')) as Variables;
  }

  /** Starts the process, and returns when it is ready. */
  static async start(platform: Platform, service: Service, changes: Variables = {}): Promise<ServiceReplica> {
    const port = await findFreePort();
    const variables = { ...ServiceReplica.variablesOf(platform, service), ...changes, SVC_PORT: String(port) };
    const child = spawn(process.execPath, programArguments(ROOT, service), {
      cwd: ROOT,
      env: environmentFor(variables),
      stdio: 'ignore',
    });
    const replica = new ServiceReplica(child, `http://127.0.0.1:${port}`);
    await waitUntil(`another ${service}`, 60_000, async () => {
      if (child.exitCode !== null) throw new Error(`The process ended with ${child.exitCode}.`);
      return (await fetch(`${replica.url}/health/ready`)).ok;
    });
    return replica;
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
