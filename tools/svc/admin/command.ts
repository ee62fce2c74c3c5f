import { parseArgs } from 'node:util';
import type { Administration } from '../base/administration.ts';
import { SvcError } from '../base/svc-error.ts';

/** What was typed after the name of a command, by the names in its usage. */
export type Input = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** One subcommand of `./svc admin`. */
export interface AdminCommand {
  /** One or two words, as they are typed: `keys create`. */
  readonly name: string;
  readonly usage: string;
  /** For the help: what it does, in a few words. */
  readonly summary: string;
  /** Returns what is printed: an object, a list of objects, nothing, or {@link Findings}. */
  readonly run: (api: Administration, input: Input) => Promise<unknown>;
}

/** `<name>` is a required word, `<name…>` one or more of them, `[--name=…]` a text and `[--name]` a switch. */
type InputOf<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? ValueOf<Word> & InputOf<Rest>
  : ValueOf<Usage>;
type ValueOf<Word extends string> = Word extends `<${infer Name}…>`
  ? { [_ in Name]: readonly string[] }
  : Word extends `<${infer Name}>`
    ? { [_ in Name]: string }
    : Word extends `[--${infer Name}=…]`
      ? { [_ in Name]?: string }
      : Word extends `[--${infer Name}]`
        ? { [_ in Name]?: boolean }
        : unknown;

/** A command whose usage says how its words are read; every command also takes --json and --print. */
export function command<const Usage extends string>(
  usage: Usage,
  summary: string,
  run: (api: Administration, input: InputOf<Usage> & { readonly json?: boolean }) => Promise<unknown>,
): AdminCommand {
  const name = usage.replace(/ [<[].*/, '');
  return { name, usage, summary, run: run as AdminCommand['run'] };
}

/**
 * A command that is one request.
 * @param line method and path, as in `GET {owner}/keys#keys`: each parameter is checked, or encoded as one segment; after # is
 *   the member of the answer that is printed, without it the whole answer is
 */
export function request<const Usage extends string>(
  usage: Usage,
  summary: string,
  line: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} ${string}`,
  body?: (input: InputOf<Usage>) => object,
): AdminCommand {
  return command(usage, summary, async (api, input) => {
    const [method, path = '', shown] = line.split(/[ #]/) as [Parameters<Administration['call']>[0], string?, string?];
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      (PATHS[name] ?? encodeURIComponent)((input as Record<string, string>)[name] ?? ''),
    );
    const answer = await api.call(method, filled, body?.(input));
    return shown === undefined ? answer : (answer as Record<string, unknown>)[shown];
  });
}

/** Parameters and options of a command, or what is wrong with them. */
export function readInput({ usage }: AdminCommand, args: readonly string[]): Input {
  const parameters = [...usage.matchAll(/<(.+?)>/g)].map(([, name = '']) => name);
  const options: Record<string, { type: 'string' | 'boolean' }> = {
    print: { type: 'string' },
    json: { type: 'boolean' },
  };
  for (const [, name = '', value] of usage.matchAll(/\[--([\w-]+)(=…)?\]/g))
    options[name] = { type: value === undefined ? 'boolean' : 'string' };
  const { positionals, values } = parse(args, options);
  const last = parameters.at(-1);
  const takesMore = last?.endsWith('…') === true;
  if (positionals.length < parameters.length || (positionals.length > parameters.length && !takesMore))
    throw wrongInput(`usage: ./svc admin ${usage}`);
  const named = Object.fromEntries(parameters.map((name, place) => [name, positionals[place]]));
  const rest = takesMore ? { [last.slice(0, -1)]: positionals.slice(parameters.length - 1) } : {};
  return { ...(values as Input), ...named, ...rest };
}

function parse(args: readonly string[], options: Record<string, { type: 'string' | 'boolean' }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw wrongInput((error as Error).message.split('. ')[0] ?? 'this cannot be understood');
  }
}

/** An answer that is printed although the command fails: a table, and as JSON all there is to know. */
export class Findings {
  readonly answer: { readonly table: unknown; readonly json: unknown };
  readonly failure: SvcError;

  constructor(answer: { readonly table: unknown; readonly json: unknown }, failure: SvcError) {
    this.answer = answer;
    this.failure = failure;
  }
}

/** Page after page, each requested with the `after` of the one before. */
export async function* pages<Page extends { readonly after: string | null }>(
  request: (after: string | null) => Promise<unknown>,
): AsyncGenerator<Page> {
  let after: string | null = null;
  do {
    const page = (await request(after)) as Page;
    yield page;
    ({ after } = page);
  } while (after !== null);
}

/** The query of a path, empty where nothing is given. */
export function queryOf(parameters: Readonly<Record<string, string | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (typeof value === 'string') query.set(name, value);
  return query.size > 0 ? `?${query}` : '';
}

/** `--live` makes what counts; without it everything is for trying out. */
export function modeOf({ live }: { readonly live?: boolean }): { mode: 'test' | 'live' } {
  return { mode: live === true ? 'live' : 'test' };
}

/** A parameter of one of these names is the path of what it names, or has a default. */
const PATHS: Readonly<Record<string, (text: string) => string>> = {
  owner: (owner) => {
    if (UUID.test(owner)) return `/organisations/${owner}`;
    if (/^\d+$/.test(owner)) return merchantPath(owner);
    if (/^\d+\/\d+$/.test(owner)) return sitePath(owner);
    throw wrongInput(`"${owner}" is no owner of keys: an organisationId, a merchantId, or merchantId/siteId`);
  },
  site: sitePath,
  merchantId: merchantPath,
  after: (after) => encodeURIComponent(after || '0'),
  organisationId: (organisationId) => {
    if (!UUID.test(organisationId)) throw wrongInput(`"${organisationId}" is no organisationId`);
    return `/organisations/${organisationId}`;
  },
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function sitePath(site: string): string {
  const [, merchantId, siteId] = /^(\d+)\/(\d+)$/.exec(site) ?? [];
  if (siteId === undefined) throw wrongInput(`"${site}" is no site: write merchantId/siteId, for example 1001/5001`);
  return `/merchants/${merchantId}/sites/${siteId}`;
}

export function merchantPath(merchantId: string): string {
  return `/merchants/${merchantNumber(merchantId)}`;
}

export function merchantNumber(merchantId: string): number {
  if (!/^\d{1,15}$/.test(merchantId)) throw wrongInput(`"${merchantId}" is no merchantId`);
  return Number(merchantId);
}

export function wholeNumber(text: string, digits: number, unit: string): number {
  if (!/^\d+$/.test(text) || text.length > digits) throw wrongInput(`"${text}" is no whole number of ${unit}`);
  return Number(text);
}

export function wrongInput(message: string): SvcError {
  return new SvcError(message, { hint: './svc admin lists the commands', exitCode: 2 });
}
