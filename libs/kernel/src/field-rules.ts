import type { FieldProblem } from './domain-error.js';

/**
 * A rule for a request beyond the format of single fields: for combinations of fields, or for this caller. All rules of a request
 * are checked together with the format of its fields, so that one response names every invalid field (C5).
 */
export interface FieldRule<Request> {
  /** Fields that the rule reads. It is skipped while one of them is malformed, which is an error already. */
  readonly reads: readonly (keyof Request & string)[];
  /**
   * True: checked only if the request has another error. For rules whose result changes with time, such as the expiry of a card: a
   * retry of an accepted request must not fail because of it (C7).
   */
  readonly onlyBesideOthers?: boolean;
  /**
   * Returns every problem that the rule finds. Throws if the caller may not use this feature at all; that error comes before those
   * of fields (C5).
   */
  check(request: Request, isMalformed: (path: string) => boolean): readonly FieldProblem[];
}

/** Creates the rules of one request; each gets only the fields in its `reads`. */
export function rulesFor<Request>() {
  return <Read extends keyof Request & string>(
    reads: readonly Read[],
    check: (request: Pick<Request, Read>) => readonly FieldProblem[] | FieldProblem | undefined,
  ): FieldRule<Request> => ({ reads, check: (request) => [check(request) ?? []].flat() });
}

/** The problems of a request by these rules, in their order. `malformed` has the paths of fields with an error already. */
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
