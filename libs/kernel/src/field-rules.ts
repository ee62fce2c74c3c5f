import type { FieldProblem } from './domain-error.js';

/**
 * A rule for a request beyond the form of its single fields: what fields must be together, or for this caller. All rules of
 * a request are checked with the form of its fields, so that one answer names every wrong field (C5).
 */
export interface FieldRule<Request> {
  /** Fields that the rule reads. It is skipped while one of them is malformed: that is named already. */
  readonly reads: readonly (keyof Request & string)[];
  /**
   * True: checked only where the request is refused anyway. For what changes with time, such as the expiry of a card: a
   * repeat of a request that was accepted must not be refused for it (C7).
   */
  readonly onlyBesideOthers?: boolean;
  /**
   * Every problem that the rule finds. Throws where the caller may not ask for this at all, which comes before what is
   * wrong with the request (C5).
   */
  check(request: Request, isMalformed: (path: string) => boolean): readonly FieldProblem[];
}

/** Makes the rules of one request; each sees only the fields that it says it reads. */
export function rulesFor<Request>() {
  return <Read extends keyof Request & string>(
    reads: readonly Read[],
    check: (request: Pick<Request, Read>) => readonly FieldProblem[] | FieldProblem | undefined,
  ): FieldRule<Request> => ({ reads, check: (request) => [check(request) ?? []].flat() });
}

/** The problems of a request by these rules, in their order. `malformed` has the paths of fields that are refused already. */
export function ruleProblems<Request>(
  request: Request,
  rules: readonly FieldRule<Request>[],
  malformed: readonly FieldProblem[] = [],
): FieldProblem[] {
  const paths = malformed.map(({ field }) => field);
  const isMalformed = (path: string): boolean =>
    paths.some((each) => each === path || each.startsWith(`${path}.`) || each.startsWith(`${path}[`));
  const found = (wanted: readonly FieldRule<Request>[]): FieldProblem[] =>
    wanted.filter(({ reads }) => !reads.some(isMalformed)).flatMap((rule) => rule.check(request, isMalformed));
  const problems = found(rules.filter(({ onlyBesideOthers }) => !onlyBesideOthers));
  if (problems.length + malformed.length === 0) return [];
  return [...problems, ...found(rules.filter(({ onlyBesideOthers }) => onlyBesideOthers))];
}
