/** Runs a served app in the distributed platform, in place of the app's own program. */
import { SvcError } from '../base/svc-error.ts';
import type { SupervisedAppName } from '../processes/processes.ts';
import { pathsOf, type Settings } from '../settings/settings.ts';
import { connectToSupervisor, type ReloadOutcome, type SupervisorConnection } from '../supervisor/control.ts';

/** Receives the reports of the supervisor while the app runs. */
export interface HostListener {
  /** The app has started with the program of the last build, or could not. */
  readonly onReload: (outcome: ReloadOutcome) => void;
  /** The process has ended by itself. */
  readonly onEnd: (reason: string) => void;
  /** `./svc down` stops the platform. */
  readonly onStop: () => void;
}

export interface Host {
  /** Starts the app with the program of the last build. A later call ends the wait of an earlier one. */
  reload(): void;
  /** Resolves when the app cannot be served any longer; rejects if this is a failure. */
  readonly ended: Promise<void>;
  stop(): void;
}

/**
 * Takes the place of the supervised app. The supervisor runs the program as it runs the app's own program, so it has
 * the same variables, port and log, and the reverse proxy queues requests during a restart.
 * @throws SvcError when another command already serves the app
 */
export async function serveInPlatform(
  settings: Settings,
  app: SupervisedAppName,
  listener: HostListener,
): Promise<Host> {
  const supervisor = await connectToSupervisor(pathsOf(settings).run);
  supervisor?.send({ type: 'serve', app, pid: process.pid });
  const reply = await supervisor?.receive();
  if (supervisor === undefined || reply?.type !== 'serving') {
    supervisor?.close();
    const reason = reply?.type === 'refused' ? reply.reason : 'the supervisor does not answer';
    throw new SvcError(reason, { hint: 'see ./svc status' });
  }
  return {
    reload: () => supervisor.send({ type: 'reload' }),
    ended: receiveReplies(supervisor, listener),
    // The supervisor notices the end of the connection.
    stop: () => supervisor.close(),
  };
}

async function receiveReplies(supervisor: SupervisorConnection, listener: HostListener): Promise<void> {
  for (;;) {
    const reply = await supervisor.receive();
    if (reply === undefined)
      throw new SvcError('the supervisor has ended', { hint: './svc up starts the platform again' });
    if (reply.type === 'stopping') return listener.onStop();
    if (reply.type === 'reloaded') listener.onReload(reply.outcome);
    if (reply.type === 'ended') listener.onEnd(reply.reason);
  }
}
