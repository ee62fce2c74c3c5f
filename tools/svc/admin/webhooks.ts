import { parseArgs } from 'node:util';
import { SvcError } from '../svc-error.ts';
import type { AdminArea } from './admin-area.ts';
import type { AdministrationCall } from './administration-call.ts';

/** What merchants were told, and telling them again (E5, E6). */
export const webhooks: AdminArea = {
  help: [
    ['webhooks list [--state s] [--merchant id]', 'the newest 50; pending, delivered, superseded, exhausted or gone'],
    ['webhooks show <id>', 'one notification with every try, as JSON'],
    ['webhooks failing', 'endpoints that fail, and what waits for them'],
    ['webhooks replay <id>', 'sends one again, now, under its id'],
    ['webhooks replay --state exhausted [--merchant id] [--endpoint host:port]', 'sends everything given up again'],
    [
      'webhooks replay --merchant id --since time [--endpoint host:port]',
      'sends everything since then again, delivered or not',
    ],
  ],
  run: (args, call) => {
    const [command, ...rest] = args;
    switch (command) {
      case 'list':
        return list(rest, call);
      case 'show':
        return show(rest, call);
      case 'failing':
        return failing(rest, call);
      case 'replay':
        return replay(rest, call);
      default:
        throw unknown(
          command === undefined ? '"admin webhooks" needs a command' : `"admin webhooks" does not know "${command}"`,
        );
    }
  },
};

interface Listed {
  readonly id: string;
  readonly createdAt: string;
  readonly merchantId: number;
  readonly paymentStatus: string;
  readonly state: string;
  readonly tries: number;
  readonly url: string;
}

async function list(args: readonly string[], call: AdministrationCall): Promise<string[]> {
  const { values } = read(args, 0);
  const query = new URLSearchParams();
  if (values.state !== undefined) query.set('state', values.state);
  if (values.merchant !== undefined) query.set('merchantId', values.merchant);
  const { notifications, after } = (await call('GET', `/notifications?${query}`)) as {
    notifications: Listed[];
    after: string | null;
  };
  const rows = notifications.map(({ id, createdAt, merchantId, paymentStatus, state, tries, url }) =>
    [id, createdAt, `merchant ${merchantId}`, paymentStatus.padEnd(7), state.padEnd(10), `${tries} tries`, url].join(
      '  ',
    ),
  );
  if (rows.length === 0) return ['none'];
  return after === null ? rows : [...rows, 'there are older ones'];
}

async function show(args: readonly string[], call: AdministrationCall): Promise<string[]> {
  const [id] = read(args, 1).positionals;
  return [JSON.stringify(await call('GET', `/notifications/${encodeURIComponent(id!)}`), null, 2)];
}

async function failing(args: readonly string[], call: AdministrationCall): Promise<string[]> {
  read(args, 0);
  const { circuits } = (await call('GET', '/notifications/circuits')) as {
    circuits: { merchantId: number; endpoint: string; failures: number; openUntil: string | null; pending: number }[];
  };
  if (circuits.length === 0) return ['none'];
  return circuits.map(({ merchantId, endpoint, failures, openUntil, pending }) =>
    [
      `merchant ${merchantId}`,
      endpoint,
      `${failures} failures in a row`,
      openUntil === null ? 'still being sent to' : `left alone until ${openUntil}`,
      `${pending} waiting`,
    ].join('  '),
  );
}

async function replay(args: readonly string[], call: AdministrationCall): Promise<string[]> {
  const { values, positionals } = read(args, args[0]?.startsWith('-') === false ? 1 : 0);
  const [id] = positionals;
  if (id !== undefined) {
    if (Object.keys(values).length > 0) throw unknown('"replay" takes an id, or options that say which, not both');
    await call('POST', `/notifications/${encodeURIComponent(id)}/replay`);
    return [`${id} is due now`];
  }
  const asked = {
    ...(values.state === undefined ? {} : { state: values.state }),
    ...(values.merchant === undefined ? {} : { merchantId: wholeNumber(values.merchant) }),
    ...(values.endpoint === undefined ? {} : { endpoint: values.endpoint }),
    ...(values.since === undefined ? {} : { since: values.since }),
  };
  let replayed = 0;
  let skipped = 0;
  let after: string | null = null;
  do {
    const page = (await call('POST', '/notifications/replays', after === null ? asked : { ...asked, after })) as {
      replayed: number;
      skipped: number;
      after: string | null;
    };
    replayed += page.replayed;
    skipped += page.skipped;
    after = page.after;
  } while (after !== null);
  return [
    `${replayed} due now, ${skipped} left as they are (being sent, or a failure of a session that was paid since)`,
  ];
}

function read(args: readonly string[], positionals: 0 | 1) {
  try {
    const parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        state: { type: 'string' },
        merchant: { type: 'string' },
        endpoint: { type: 'string' },
        since: { type: 'string' },
      },
    });
    if (parsed.positionals.length === positionals) return parsed;
  } catch (cause) {
    throw unknown((cause as Error).message);
  }
  throw unknown(positionals === 0 ? 'only options are known here' : 'one notification is named by its id');
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw unknown(`--merchant takes a number, not "${text}"`);
  return Number(text);
}

function unknown(message: string): SvcError {
  return new SvcError(message, { hint: './svc admin lists the commands', exitCode: 2 });
}
