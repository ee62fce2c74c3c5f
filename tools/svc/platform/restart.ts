/** `./svc restart [app]`: requests a restart from the supervisor and waits for the outcome. */
import { setTimeout as pause } from 'node:timers/promises';
import { PATIENCE } from '../base/patience.ts';
import { createSteps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { SUPERVISED_APPS } from '../processes/processes.ts';
import { pathsOf, SERVICES, type Settings } from '../settings/settings.ts';
import { connectToSupervisor, type ControlReply, type RestartOutcome } from '../supervisor/control.ts';
import { findServices } from './services.ts';

/** The time limit for one process to finish its requests, stop, start again and become ready. */
const TIMEOUT_SECONDS = 100 * PATIENCE;

/** Without a name, restarts every service in turn, but not the reverse proxy (`front`) or the simulated acquirer. */
export async function restart(settings: Settings, name: string | undefined): Promise<void> {
  const apps = name === undefined ? [...SERVICES] : SUPERVISED_APPS.filter((app) => app === name);
  if (apps.length === 0)
    throw new SvcError(`there is no app "${name}"`, { hint: `there are ${SUPERVISED_APPS.join(', ')}`, exitCode: 2 });
  const running = findServices(settings);
  if (running?.mode !== 'distributed') {
    const hint = 'in another mode, run ./svc down and ./svc up';
    throw new SvcError('./svc restart needs a running ./svc up --distributed', { hint });
  }
  await createSteps().run('restart', async () => {
    const supervisor = await connectToSupervisor(pathsOf(settings).run);
    supervisor?.send({ type: 'restart', apps });
    const reply = await Promise.race([
      supervisor?.receive(),
      pause(TIMEOUT_SECONDS * apps.length * 1000, 'timeout' as const, { ref: false }),
    ]);
    supervisor?.close();
    if (reply === 'timeout')
      throw new SvcError('the restart has not finished yet', { hint: 'see ./svc logs supervisor' });
    if (!isRestartOutcome(reply)) throw new SvcError('the platform was stopped in the meantime');
    if (reply.failed !== undefined)
      throw new SvcError(`${reply.failed} is not ready again`, { hint: `see ./svc logs ${reply.failed}` });
    return `${reply.restarted.join(', ')}: ready again`;
  });
}

function isRestartOutcome(reply: ControlReply | undefined): reply is RestartOutcome {
  return reply?.type === 'restarted';
}
