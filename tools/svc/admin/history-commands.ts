import { SvcError } from '../svc-error.ts';
import { waitUntil } from '../wait-until.ts';
import type { AdminCommand } from './command.ts';

/** A log of some ten million payments takes about this long. */
const REBUILT_WITHIN_SECONDS = 3_600;

interface RebuildState {
  readonly serving: number;
  readonly building: number | null;
}

/** The history of payments that partners read. */
export const historyCommands: readonly AdminCommand[] = [
  {
    name: 'history rebuild',
    parameters: [],
    summary: 'builds the payment history anew from the log while it is read',
    run: async (api) => {
      const begun = (await api.call('POST', '/history/rebuild')) as RebuildState;
      if (begun.building === null) return begun;
      const rebuilt = await waitUntil(
        async () => {
          const state = (await api.call('GET', '/history/rebuild')) as RebuildState;
          return state.building === begun.building ? undefined : state;
        },
        { withinSeconds: REBUILT_WITHIN_SECONDS, everyMilliseconds: 500 },
      );
      if (rebuilt === undefined)
        throw new SvcError('the history is still being built', { hint: 'the same command goes on waiting for it' });
      return { serving: rebuilt.serving };
    },
  },
];
