/** `./svc restart [app]`: requests a restart from the supervisor and waits for the outcome. */
import { randomUUID } from 'node:crypto';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { createSteps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { type RestartOutcome, type RestartRequest, SUPERVISED_APPS } from '../processes/processes.ts';
import { pathsOf, SERVICES, type Settings } from '../settings/settings.ts';
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
  const paths = pathsOf(settings);
  const request: RestartRequest = { id: randomUUID(), apps };
  await createSteps().run('restart', async () => {
    writeAtomically(paths.restart, `${JSON.stringify(request)}\n`, OWNER_ONLY);
    process.kill(running.pid, 'SIGUSR2');
    const outcome = await waitUntil(
      () => {
        const latest = readJson(paths.restartOutcome) as RestartOutcome | undefined;
        if (latest?.id === request.id) return latest;
        if (findServices(settings) === undefined) throw new SvcError('the platform was stopped in the meantime');
        return undefined;
      },
      { withinSeconds: TIMEOUT_SECONDS * apps.length },
    );
    if (outcome === undefined)
      throw new SvcError('the restart has not finished yet', { hint: 'see ./svc logs supervisor' });
    if (outcome.failed !== undefined)
      throw new SvcError(`${outcome.failed} is not ready again`, { hint: `see ./svc logs ${outcome.failed}` });
    return `${outcome.restarted.join(', ')}: ready again`;
  });
}
