import { command, formatQuery, parseMerchantId, parseNumber, pickMode, usageError } from './command.ts';

/** The words that name a subject: `--site 5001`, `--address 192.0.2.7`, `--card-of 1MT83H0DZX37GHR05K`. */
interface SubjectInput {
  readonly site?: string;
  readonly address?: string;
  readonly 'card-of'?: string;
  readonly range?: string;
  readonly organisation?: string;
  readonly live?: boolean;
}

const LIMITS = {
  'card-day': 'cardDeclinesPerDay',
  'card-30-days': 'cardDeclinesPer30Days',
  'range-hour': 'rangeDeclinesPerHour',
  'address-hour': 'addressDeclinesPerHour',
  'organisation-hour': 'organisationDeclinesPerHour',
  'site-10-minutes': 'siteDeclinesPer10Minutes',
  'site-day': 'siteDeclinesPerDay',
} as const;

/** The limits against card testing: what is counted, releases, blocks, and the limits of a merchant. */
export const fraudCommands = [
  command(
    'fraud show [--site=…] [--address=…] [--card-of=…] [--range=…] [--organisation=…] [--live]',
    'shows the declines of a site and its attack level, of an address, of the card of a declined payment (its svcId), or of a range (the first 8 digits, with --site or --organisation)',
    (api, input) => {
      const { siteId, ...subject } = readSubject(input);
      return api.call(
        'GET',
        `/velocity-counters${formatQuery({ ...subject, siteId: siteId === undefined ? undefined : String(siteId) })}`,
      );
    },
  ),
  command(
    'fraud release [--site=…] [--address=…] [--card-of=…] [--range=…] [--organisation=…] [--live]',
    'forgets the declines of a subject and ends its block, for a payer who was refused in error; a site is no longer under attack',
    (api, input) => api.call('POST', '/velocity-counters/releases', readSubject(input)),
  ),
  command(
    'fraud block <until> [--site=…] [--address=…] [--card-of=…] [--range=…] [--organisation=…] [--live]',
    'refuses an address, a range or a card until a time (UTC, e.g. 2026-11-30T00:00:00Z), at most a year from now',
    (api, { until, ...input }) =>
      api.call('POST', '/velocity-counters/blocks', { ...readSubject(input), untilUTCDate: until }),
  ),
  command(
    'fraud limits <merchantId> <on|off|list> [--live] [--card-day=…] [--card-30-days=…] [--range-hour=…] [--address-hour=…] [--organisation-hour=…] [--site-10-minutes=…] [--site-day=…]',
    "sets a merchant's limits of declines; without an option, a limit has the platform's default",
    async (api, { merchantId, 'on|off|list': setting, ...input }) => {
      const id = parseMerchantId(merchantId);
      if (setting === 'list')
        return ((await api.call('GET', `/velocity-limits?merchantId=${id}`)) as { velocityLimits: unknown })
          .velocityLimits;
      if (setting !== 'on' && setting !== 'off') throw usageError(`"${setting}" is not on, off or list`);
      const limits = Object.entries(LIMITS).flatMap(([option, name]) => {
        const text = input[option as keyof typeof LIMITS];
        return text === undefined ? [] : [[name, parseNumber(text, 3, 'declines')] as const];
      });
      return api.call('POST', '/velocity-limits', {
        merchantId: id,
        ...pickMode(input),
        enabled: setting === 'on',
        ...Object.fromEntries(limits),
      });
    },
  ),
];

type Subject = { readonly siteId?: number } & Readonly<
  Partial<Record<'address' | 'mode' | 'organisationId' | 'range' | 'svcId', string>>
>;

/** @throws SvcError with exit code 2 unless the words name exactly one subject */
function readSubject(input: SubjectInput): Subject {
  const { site, address, range, organisation, 'card-of': svcId } = input;
  const named = [site ?? organisation, address, svcId].filter((text) => text !== undefined);
  const isRange = range !== undefined && (site === undefined) !== (organisation === undefined);
  if (named.length !== 1 || (!isRange && (range !== undefined || organisation !== undefined)))
    throw usageError('name one of --site, --address, --card-of, or --range with --site or --organisation');
  if (svcId !== undefined) return { svcId };
  return {
    ...pickMode(input),
    ...(site === undefined ? {} : { siteId: parseNumber(site, 15, 'a siteId') }),
    ...(organisation === undefined ? {} : { organisationId: organisation }),
    ...(address === undefined ? {} : { address }),
    ...(range === undefined ? {} : { range }),
  };
}
