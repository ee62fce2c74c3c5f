/** `./svc restart [app]`: requests a restart from the supervisor of a distributed platform and waits for the outcome. */
import { randomUUID } from 'node:crypto';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { SUPERVISED, type RestartOutcome, type RestartRequest } from '../processes/processes.ts';
import { findServices } from './services.ts';
import { SERVICES, pathsOf, type Settings } from '../base/settings.ts';
import { createSteps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

/** Draining, starting and becoming ready, of one process. */
const SECONDS_FOR_ONE = 100 * PATIENCE;

/** Without a name: every service, one after the other. The front and the acquirer have to be named. */
export async function restart(settings: Settings, name: string | undefined): Promise<void> {
  const apps = name === undefined ? [...SERVICES] : SUPERVISED.filter((app) => app === name);
  if (apps.length === 0)
    throw new SvcError(`there is no app "${name}"`, { hint: `there are ${SUPERVISED.join(', ')}`, exitCode: 2 });
  const running = findServices(settings);
  if (running?.mode !== 'distributed') {
    const hint = 'for all services in one process it is ./svc down and ./svc up; or start with ./svc up --distributed';
    throw new SvcError('nothing runs here that could be restarted app by app', { hint });
  }
  const paths = pathsOf(settings);
  const request: RestartRequest = { id: randomUUID(), apps };
  await createSteps().run('restart', async () => {
    writeAtomically(paths.restart, `${JSON.stringify(request)}\n`, OWNER_ONLY);
    process.kill(running.pid, 'SIGUSR2');
    const outcome = await waitUntil(
      () => {
        const known = readJson(paths.restartOutcome) as RestartOutcome | undefined;
        if (known?.id === request.id) return known;
        if (findServices(settings) === undefined) throw new SvcError('the platform was stopped in the meantime');
        return undefined;
      },
      { withinSeconds: SECONDS_FOR_ONE * apps.length },
    );
    if (outcome === undefined) throw new SvcError('the restart is not done yet', { hint: 'see ./svc logs supervisor' });
    if (outcome.failed !== undefined)
      throw new SvcError(`${outcome.failed} is not ready again`, { hint: `see ./svc logs ${outcome.failed}` });
    return `${outcome.restarted.join(', ')}: ready again`;
  });
}
