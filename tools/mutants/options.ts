import { SvcError } from '../svc/base/svc-error.ts';

export interface Options {
  readonly paths: readonly string[];
  /** Only lines that differ from this commit. */
  readonly changedSince: string | undefined;
  readonly isList: boolean;
  /** Only mutants with an entry in equivalent.json: a test must kill none of them. */
  readonly isExcused: boolean;
  /** Numbers of `--list`. */
  readonly only: readonly number[] | undefined;
}

export const USAGE = `usage: ./svc npm run mutants -- [folder or file …] [--changed [base]] [--list] [--only n[,n…]] [--excused]

Drops and weakens each guard on owner, mode, version, state, lease and expiry in production code, one at a time, and
lists the mutants that no test of the same app or lib notices. Exit code 1 if there are any.

  --changed [base]  only mutants on lines that differ from base (main), committed or not
  --list            shows the mutants and runs nothing
  --only n[,n…]     only mutants with these numbers of --list
  --excused         only mutants with an entry in equivalent.json; exit code 1 if a test kills one, whose reason is
                    therefore wrong
`;

export function parseOptions(args: readonly string[]): Options {
  const paths: string[] = [];
  let changedSince: string | undefined;
  let isList = false;
  let isExcused = false;
  let only: number[] | undefined;
  for (let at = 0; at < args.length; at++) {
    const argument = args[at]!;
    const next = args[at + 1];
    if (argument === '--list') isList = true;
    else if (argument === '--excused') isExcused = true;
    else if (argument === '--changed') {
      const isBase = next !== undefined && !next.startsWith('-') && !/^(apps|libs)\b/.test(next);
      changedSince = isBase ? next : 'main';
      if (isBase) at++;
    } else if (argument === '--only') {
      only = parseNumbers(next);
      at++;
    } else if (argument.startsWith('-'))
      throw new SvcError(`there is no option ${argument}`, { hint: USAGE, exitCode: 2 });
    else paths.push(argument);
  }
  if (paths.length === 0 && changedSince === undefined) throw new SvcError(USAGE, { exitCode: 2 });
  return { paths: paths.length > 0 ? paths : ['apps', 'libs'], changedSince, isList, isExcused, only };
}

function parseNumbers(text: string | undefined): number[] {
  const numbers = (text ?? '').split(',').map(Number);
  if (numbers.some((number) => !Number.isInteger(number) || number < 1))
    throw new SvcError('--only takes numbers of --list, for example --only 3,17', { exitCode: 2 });
  return numbers;
}
