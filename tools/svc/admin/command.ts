import { parseArgs } from 'node:util';
import type { Administration, Method } from '../administration-api/administration.ts';
import { SvcError } from '../base/svc-error.ts';

/** The parameters and options of a command line, by their names in the usage. */
export type Input = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** One subcommand of `./svc admin`. */
export interface AdminCommand {
  /** One or two words: `keys create`. */
  readonly name: string;
  readonly usage: string;
  /** Its line in the help. */
  readonly summary: string;
  /** Returns the output: a text, an object, a list of objects, or nothing. */
  readonly run: (api: Administration, input: Input) => Promise<unknown>;
  /** A remark for the administrator, printed to stderr after the output. Undefined if there is nothing to remark. */
  readonly remark?: (api: Administration, input: Input) => Promise<string | undefined>;
}

/**
 * The type of the input that belongs to a usage text. `<name>` is a required word, `<name…>` one or more words,
 * `[--name=…]` an option with a value, and `[--name]` a flag.
 */
type UsageInput<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? WordInput<Word> & UsageInput<Rest>
  : WordInput<Usage>;
type WordInput<Word extends string> = Word extends `<${infer Name}…>`
  ? { [_ in Name]: readonly string[] }
  : Word extends `<${infer Name}>`
    ? { [_ in Name]: string }
    : Word extends `[--${infer Name}=…]`
      ? { [_ in Name]?: string }
      : Word extends `[--${infer Name}]`
        ? { [_ in Name]?: boolean }
        : unknown;

/** A command whose usage text declares its parameters and options. Every command also accepts --json and --print. */
export function command<const Usage extends string>(
  usage: Usage,
  summary: string,
  run: (api: Administration, input: UsageInput<Usage> & { readonly json?: boolean }) => Promise<unknown>,
): AdminCommand {
  const name = usage.replace(/ [<[].*/, '');
  return { name, usage, summary, run: run as AdminCommand['run'] };
}

/**
 * A command that makes one request.
 * @param line method and path, as in `GET {owner}/keys#keys`. PATH_BUILDERS converts `{owner}` into a path; a parameter
 *   without an entry there is only encoded. With `#keys` the command prints only this member of the response
 */
export function request<const Usage extends string>(
  usage: Usage,
  summary: string,
  line: `${Method} ${string}`,
  body?: (input: UsageInput<Usage>) => object,
): AdminCommand {
  return command(usage, summary, async (api, input) => {
    const [method, template = '', member] = line.split(/[ #]/) as [Method, string?, string?];
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      (PATH_BUILDERS[name] ?? encodeURIComponent)((input as Record<string, string>)[name] ?? ''),
    );
    const response = await api.call(method, path, body?.(input));
    return member === undefined ? response : (response as Record<string, unknown>)[member];
  });
}

/** @throws SvcError with exit code 2 when the words do not match the usage */
export function readInput({ usage }: AdminCommand, args: readonly string[]): Input {
  const parameters = [...usage.matchAll(/<(.+?)>/g)].map(([, name = '']) => name);
  const options: Record<string, { type: 'string' | 'boolean' }> = {
    print: { type: 'string' },
    json: { type: 'boolean' },
  };
  for (const [, name = '', value] of usage.matchAll(/\[--([\w-]+)(=…)?\]/g))
    options[name] = { type: value === undefined ? 'boolean' : 'string' };
  const { positionals, values } = parseWords(args, options);
  const last = parameters.at(-1);
  const isVariadic = last?.endsWith('…') === true;
  if (positionals.length < parameters.length || (positionals.length > parameters.length && !isVariadic))
    throw usageError(`usage: ./svc admin ${usage}`);
  const words = Object.fromEntries(parameters.map((name, index) => [name, positionals[index]]));
  const variadic = isVariadic ? { [last.slice(0, -1)]: positionals.slice(parameters.length - 1) } : {};
  return { ...(values as Input), ...words, ...variadic };
}

function parseWords(args: readonly string[], options: Record<string, { type: 'string' | 'boolean' }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw usageError((error as Error).message.split('. ')[0]!);
  }
}

/** Requests all pages of a list, each with the cursor `after` of the previous page. */
export async function* readPages<Page extends { readonly after: string | null }>(
  request: (after: string | null) => Promise<unknown>,
): AsyncGenerator<Page> {
  let after: string | null = null;
  do {
    const page = (await request(after)) as Page;
    yield page;
    ({ after } = page);
  } while (after !== null);
}

/** Requests all pages, and adds up their members with these names. */
export async function sumPages<Name extends string>(
  names: readonly Name[],
  request: (after: string | null) => Promise<unknown>,
): Promise<Record<Name, number>> {
  const sums = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  for await (const page of readPages<typeof sums & { after: string | null }>(request))
    for (const name of names) sums[name] += page[name];
  return sums;
}

/** A query string with its `?`; empty without parameters. */
export function formatQuery(parameters: Readonly<Record<string, string | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (typeof value === 'string') query.set(name, value);
  return query.size > 0 ? `?${query}` : '';
}

export function pickMode({ live }: { readonly live?: boolean }): { mode: 'test' | 'live' } {
  return { mode: live === true ? 'live' : 'test' };
}

/** Functions that convert parameters of `request` into the text in its path, and reject invalid values. */
const PATH_BUILDERS: Readonly<Record<string, (text: string) => string>> = {
  owner: ownerPath,
  site: sitePath,
  merchantId: merchantPath,
  after: (after) => encodeURIComponent(after || '0'),
  organisationId: (organisationId) => {
    if (!UUID.test(organisationId)) throw usageError(`"${organisationId}" is not an organisationId`);
    return `/organisations/${organisationId}`;
  },
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function ownerPath(owner: string): string {
  if (UUID.test(owner)) return `/organisations/${owner}`;
  if (/^\d+$/.test(owner)) return merchantPath(owner);
  if (/^\d+\/\d+$/.test(owner)) return sitePath(owner);
  throw usageError(`"${owner}" is not an owner of keys: write an organisationId, a merchantId, or merchantId/siteId`);
}

function sitePath(site: string): string {
  const [, merchantId, siteId] = /^(\d+)\/(\d+)$/.exec(site) ?? [];
  if (siteId === undefined) throw usageError(`"${site}" is not a site: write merchantId/siteId, for example 1001/5001`);
  return `/merchants/${merchantId}/sites/${siteId}`;
}

export function merchantPath(merchantId: string): string {
  return `/merchants/${parseMerchantId(merchantId)}`;
}

export function parseMerchantId(merchantId: string): number {
  if (!/^\d{1,15}$/.test(merchantId)) throw usageError(`"${merchantId}" is not a merchantId`);
  return Number(merchantId);
}

export function parseNumber(text: string, digits: number, unit: string): number {
  if (!/^\d+$/.test(text) || text.length > digits) throw usageError(`"${text}" is not a whole number of ${unit}`);
  return Number(text);
}

export function usageError(message: string): SvcError {
  return new SvcError(message, { hint: './svc admin lists the commands', exitCode: 2 });
}
