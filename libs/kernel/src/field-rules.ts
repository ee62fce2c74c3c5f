import type { FieldProblem } from './domain-error.js';

/**
 * A rule for several fields of a request, or for a field and the caller. All rules are checked together with the format of the
 * fields, so that one response names every invalid field (C5).
 */
export interface FieldRule<Request> {
  /** Fields that the rule reads. The rule is skipped if one of them is malformed, because that error is already reported. */
  readonly reads: readonly (keyof Request & string)[];
  /**
   * If true, the rule is checked only if the request is refused anyway. For conditions that change with time, such as the expiry of
   * a card: a repeat of an accepted request must not be refused (C7).
   */
  readonly onlyWithOtherErrors?: boolean;
  /**
   * Returns every problem that the rule finds. Throws if the caller has no permission, which comes before validation errors (C5).
   */
  check(request: Request, isMalformed: (path: string) => boolean): readonly FieldProblem[];
}

/** Creates the rules of one request; each rule sees only the fields that it declares. */
export function rulesFor<Request>() {
  return <Read extends keyof Request & string>(
    reads: readonly Read[],
    check: (request: Pick<Request, Read>) => readonly FieldProblem[] | FieldProblem | undefined,
  ): FieldRule<Request> => ({ reads, check: (request) => [check(request) ?? []].flat() });
}

/** The problems of a request, in the order of the rules. `malformed` has the paths of fields that are already reported. */
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
  const problems = found(rules.filter(({ onlyWithOtherErrors }) => !onlyWithOtherErrors));
  if (problems.length + malformed.length === 0) return [];
  return [...problems, ...found(rules.filter(({ onlyWithOtherErrors }) => onlyWithOtherErrors))];
}
