import { SvcError } from '../base/svc-error.ts';
import type { Administration } from './administration.ts';

/** One subcommand of `./svc admin`: a row of the table in commands.ts. */
export interface AdminCommand {
  /** One or two words, as they are typed: `keys create`. */
  readonly name: string;
  /** Names of what follows, each required; the last may end in `…` for one or more. */
  readonly parameters: readonly string[];
  /** `--name value` (text) or `--name` alone (flag). */
  readonly options?: Readonly<Record<string, 'text' | 'flag'>>;
  /** For the help: what it does, in a few words. */
  readonly summary: string;
  /** Returns what is printed: an object, a list of objects, nothing, or {@link Findings}. */
  readonly run: (administration: Administration, input: Input) => Promise<unknown>;
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

export interface Input {
  readonly parameters: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** The parameter in this place; the command's `parameters` say that it is there. */
export function parameter({ parameters }: Input, place: number): string {
  const given = parameters[place];
  if (given === undefined) throw new Error(`The command has no parameter ${place}.`);
  return given;
}

/** `--live` makes what counts; without it everything is for trying out. */
export function modeOf({ options }: Input): 'test' | 'live' {
  return options['live'] === true ? 'live' : 'test';
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Path of what has keys: an organisationId, a merchantId, or `merchantId/siteId`. */
export function ownerPath(owner: string): string {
  if (UUID.test(owner)) return `/organisations/${owner}`;
  if (/^\d+$/.test(owner)) return `/merchants/${owner}`;
  if (/^\d+\/\d+$/.test(owner)) return sitePath(owner);
  throw wrongInput(`"${owner}" is no owner of keys: an organisationId, a merchantId, or merchantId/siteId`);
}

export function sitePath(site: string): string {
  const [, merchantId, siteId] = /^(\d+)\/(\d+)$/.exec(site) ?? [];
  if (siteId === undefined) throw wrongInput(`"${site}" is no site: write merchantId/siteId, for example 1001/5001`);
  return `/merchants/${merchantId}/sites/${siteId}`;
}

export function merchantPath(merchantId: string): string {
  if (!/^\d+$/.test(merchantId)) throw wrongInput(`"${merchantId}" is no merchantId`);
  return `/merchants/${merchantId}`;
}

export function organisationPath(organisationId: string): string {
  if (!UUID.test(organisationId)) throw wrongInput(`"${organisationId}" is no organisationId`);
  return `/organisations/${organisationId}`;
}

/** An id that is one segment of a path, whatever was typed. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

export function wrongInput(message: string): SvcError {
  return new SvcError(message, { hint: './svc admin lists the commands', exitCode: 2 });
}
