import type { FieldProblem } from './domain-error.js';

/**
 * A rule for several fields of a request, or for a field and the caller. All rules are checked together with the format
 * of the fields, so that one response contains every invalid field (C5).
 */
export interface FieldRule<Request> {
  /**
   * Fields that the rule reads. The rule is skipped if one of them is malformed, because that error is already
   * reported.
   */
  readonly reads: readonly (keyof Request & string)[];
  /**
   * If true, the rule is checked only if the request has other errors. Use it for conditions that change with time,
   * such as the expiry of a card: when a client repeats an accepted request later, the request must not be rejected
   * (C7).
   */
  readonly onlyWithOtherErrors?: boolean;
  /**
   * Returns every problem that the rule finds. Throws if the caller has no permission: that error has priority over
   * validation errors (C5).
   */
  check(request: Request, isMalformed: (path: string) => boolean): readonly FieldProblem[];
}

/** Returns a function that creates rules for a request. A rule gets only the fields that it declares in `reads`. */
export function rulesFor<Request>() {
  return <Read extends keyof Request & string>(
    reads: readonly Read[],
    check: (request: Pick<Request, Read>) => readonly FieldProblem[] | FieldProblem | undefined,
  ): FieldRule<Request> => ({ reads, check: (request) => [check(request) ?? []].flat() });
}

/**
 * The problems of a request, in the order of the rules. `malformed` are problems that are already reported: rules that
 * read these fields are skipped.
 */
export function ruleProblems<Request>(
  request: Request,
  rules: readonly FieldRule<Request>[],
  malformed: readonly FieldProblem[] = [],
): FieldProblem[] {
  const paths = malformed.map(({ field }) => field);
  const isMalformed = (path: string): boolean =>
    paths.some(
      (malformedPath) =>
        malformedPath === path || malformedPath.startsWith(`${path}.`) || malformedPath.startsWith(`${path}[`),
    );
  const check = (checkedRules: readonly FieldRule<Request>[]): FieldProblem[] =>
    checkedRules.filter(({ reads }) => !reads.some(isMalformed)).flatMap((rule) => rule.check(request, isMalformed));
  const problems = check(rules.filter(({ onlyWithOtherErrors }) => !onlyWithOtherErrors));
  if (problems.length + malformed.length === 0) return [];
  return [...problems, ...check(rules.filter(({ onlyWithOtherErrors }) => onlyWithOtherErrors))];
}
