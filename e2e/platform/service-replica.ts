/** Another payment-processor of a distributed platform, in its own process, which a test may kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { waitUntil } from '@svc/testing';
import { environmentFor } from '../../tools/svc/processes/env-files.ts';
import { findFreePort } from '../../tools/svc/processes/ports.ts';
import { programArguments } from '../../tools/svc/processes/programs.ts';
import { type Platform, ROOT } from './platform.js';

type Variables = Record<string, string>;

export class ProcessorReplica {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /** The environment variables of the platform's own payment-processor. */
  static variablesOf(platform: Platform): Variables {
    return parseEnv(readFileSync(join(platform.dataDir, 'env', 'payment-processor.env'), 'utf8')) as Variables;
  }

  /** Returns when it is ready. */
  static async start(platform: Platform, changes: Variables = {}): Promise<ProcessorReplica> {
    const port = await findFreePort();
    const variables = { ...ProcessorReplica.variablesOf(platform), ...changes, SVC_PORT: String(port) };
    const child = spawn(process.execPath, programArguments(ROOT, 'payment-processor'), {
      cwd: ROOT,
      env: environmentFor(variables),
      stdio: 'ignore',
    });
    const replica = new ProcessorReplica(child, `http://127.0.0.1:${port}`);
    await waitUntil('another payment-processor', 60_000, async () => {
      if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.`);
      return (await fetch(`${replica.url}/health/ready`)).ok;
    });
    return replica;
  }

  /** Kills it at once, whatever it is doing. */
  kill(): void {
    this.process.kill('SIGKILL');
  }

  /** Kills it unless it has ended, and waits for its end. */
  async end(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.kill();
    await ended;
  }
}
