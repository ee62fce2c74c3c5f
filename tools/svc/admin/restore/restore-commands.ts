import type { Administration } from '../../administration-api/administration.ts';
import { command } from '../command.ts';

interface RestoreReport {
  /** Null: never restored. */
  readonly restore: object | null;
}

/** After a restore of payment-processor's database (docs/backup.md). */
export const restoreCommands = [
  command('restore status', 'shows the newest restore of the payments, and what is left to do', async (api) => {
    const { restore } = (await api.call('GET', '/restores')) as RestoreReport;
    return restore;
  }),
  command(
    'restore repair [--reverse-reported]',
    'compares the restored payments with the bank, and records or reverses what the restore has forgotten',
    (api, input) => repair(api, input['reverse-reported'] === true),
  ),
  command(
    'restore open [--accept-differences]',
    'opens the platform for payments when the bank was compared and the books agree',
    async (api, input) => {
      const body = input['accept-differences'] === true ? { acceptsDifferences: true } : {};
      const { restore } = (await api.call('POST', '/restores/open', body)) as RestoreReport;
      return restore;
    },
  ),
];

interface RepairReport {
  readonly listedUnresolved: readonly object[];
}

/** The counts on stderr, and the unresolved movements as a table. */
async function repair(api: Administration, reversesReported: boolean): Promise<unknown> {
  const body = reversesReported ? { reversesReported } : {};
  const { listedUnresolved, ...counts } = (await api.call('POST', '/restores/repair', body)) as RepairReport;
  if (listedUnresolved.length === 0) return counts;
  console.error(JSON.stringify(counts));
  return listedUnresolved;
}
