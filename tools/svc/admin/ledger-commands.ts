import { SvcError } from '../base/svc-error.ts';
import type { Administration } from './administration.ts';
import { type AdminCommand, segment, wrongInput } from './command.ts';

interface DayRange {
  readonly root: string;
  readonly afterSeal: number;
  readonly sealNumber: number;
}

interface Finding {
  readonly kind: string;
  readonly sealNumber: number;
  readonly transferId?: string;
  readonly day?: string;
}

interface VerifiedPage {
  readonly seals: number;
  readonly transfers: number;
  readonly sealNumber: number;
  readonly more: boolean;
  readonly finding: Finding | null;
}

/** The chain over the ledger: whether it is as it was sealed. */
export const ledgerCommands: readonly AdminCommand[] = [
  {
    name: 'ledger verify',
    parameters: [],
    options: { day: 'text', root: 'text' },
    summary:
      'recomputes the chain, or the seals of a day; --root: the root of the day as it was published; names what is wrong',
    run: async (api, { options: { day, root } }) => {
      if (root !== undefined && day === undefined) throw wrongInput('--root needs the --day whose root it is');
      const range = day === undefined ? undefined : await readDay(api, String(day));
      if (range && root !== undefined && range.root !== String(root).toLowerCase())
        throw new SvcError(`the root of ${String(day)} is ${range.root}, not the one that was published`);
      return verify(api, range);
    },
  },
  {
    name: 'ledger roots',
    parameters: [],
    summary: 'the roots of closed days, the newest first; keep them where nobody of the platform can change them',
    run: async (api) => ((await api.call('GET', '/ledger/days')) as { days: unknown }).days,
  },
];

const readDay = async (api: Administration, day: string): Promise<DayRange> =>
  (await api.call('GET', `/ledger/days/${segment(day)}`)) as DayRange;

async function verify(api: Administration, range: DayRange | undefined): Promise<unknown> {
  const until = range === undefined ? '' : `&until=${range.sealNumber}`;
  let [seals, transfers, after] = [0, 0, range?.afterSeal ?? 0];
  for (;;) {
    const page = (await api.call('GET', `/ledger/verification?after=${after}${until}`)) as VerifiedPage;
    if (page.finding !== null) throw new SvcError(sentenceOf(page.finding));
    seals += page.seals;
    transfers += page.transfers;
    after = page.sealNumber;
    if (!page.more) break;
    console.error(`${transfers} transfers in ${seals} seals are as they were sealed`);
  }
  return { seals, transfers, lastSeal: after, ...(range === undefined ? {} : { root: range.root }) };
}

/** Which row it is, and what happened to it. */
function sentenceOf({ kind, sealNumber, transferId, day }: Finding): string {
  const seal = `seal ${sealNumber}`;
  if (kind === 'root changed') return `the root of ${day} is not the hash of ${seal}`;
  if (kind === 'seal removed') return `${seal} was removed`;
  if (kind === 'seal changed') return `${seal} was changed`;
  return `transfer ${transferId} of ${seal} was ${kind}`;
}
