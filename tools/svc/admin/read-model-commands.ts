import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import type { AdminCommand } from './command.ts';

/** A log of some ten million payments takes about this long. */
const REBUILT_WITHIN_SECONDS = 3_600;

interface RebuildState {
  readonly serving: number;
  readonly building: number | null;
}

/** Read models that services build again from the log while they serve. */
export const readModelCommands: readonly AdminCommand[] = [
  rebuildCommand('history', 'the history that partners read'),
  rebuildCommand('retrieval', 'the payments that merchants retrieve'),
];

function rebuildCommand(name: string, what: string): AdminCommand {
  return {
    name: `${name} rebuild`,
    parameters: [],
    summary: `builds ${what} anew from the log while it serves`,
    run: async (api) => {
      const begun = (await api.call('POST', `/${name}/rebuild`)) as RebuildState;
      if (begun.building === null) return begun;
      const rebuilt = await waitUntil(
        async () => {
          const state = (await api.call('GET', `/${name}/rebuild`)) as RebuildState;
          return state.building === begun.building ? undefined : state;
        },
        { withinSeconds: REBUILT_WITHIN_SECONDS, everyMilliseconds: 500 },
      );
      if (rebuilt === undefined)
        throw new SvcError(`${what}: the rebuild is not finished`, { hint: 'the same command goes on waiting for it' });
      return { serving: rebuilt.serving };
    },
  };
}
