import { DomainError, type FieldProblem } from './domain-error.js';
import { type FieldRule, ruleProblems, rulesFor } from './field-rules.js';

interface Request {
  readonly from?: number;
  readonly to?: number;
  readonly items?: readonly object[];
}
const newProblem = (field: string): FieldProblem => ({ field, message: `${field} is wrong` });
const newRule = rulesFor<Request>();
const orderRule = newRule(['from', 'to'], ({ from = 0, to = 0 }) => (from > to ? newProblem('to') : undefined));
const itemsRule = newRule(['items'], ({ items = [] }) => (items.length > 1 ? [newProblem('items')] : []));
const lateRule: FieldRule<Request> = { reads: ['from'], onlyWithOtherErrors: true, check: () => [newProblem('late')] };

const findProblemFields = (
  request: Request,
  malformed: string[] = [],
  rules = [lateRule, orderRule, itemsRule],
): string[] => ruleProblems(request, rules, malformed.map(newProblem)).map(({ field }) => field);

test('every rule is checked, in the order of the rules', () => {
  expect(findProblemFields({ from: 2, to: 1, items: [{}, {}] }, [], [orderRule, itemsRule])).toEqual(['to', 'items']);
  expect(findProblemFields({ from: 2, to: 1, items: [{}, {}] }, [], [itemsRule, orderRule])).toEqual(['items', 'to']);
  expect(ruleProblems({ from: 2, to: 1 }, [orderRule, itemsRule])).toEqual([newProblem('to')]);
  expect(ruleProblems({ from: 1, to: 1 }, [orderRule, itemsRule])).toEqual([]);
});

test.each([['from'], ['to'], ['items'], ['items.length'], ['items[0].name']])(
  'a rule that reads the field of the malformed path %s is skipped, and other rules are checked',
  (path) => {
    const fields = findProblemFields({ from: 2, to: 1, items: [{}, {}] }, [path], [orderRule, itemsRule]);
    expect(fields).toEqual(path.startsWith('items') ? ['to'] : ['items']);
  },
);

test('a rule is not skipped if the name of a malformed field only begins with the name of its field', () => {
  expect(findProblemFields({ from: 2, to: 1 }, ['fromHere', 'total'], [orderRule])).toEqual(['to']);
});

test('a rule with onlyWithOtherErrors reports its problem only if there are other problems', () => {
  expect(findProblemFields({ to: 1 })).toEqual([]);
  expect(findProblemFields({ from: 2, to: 1 })).toEqual(['to', 'late']);
  expect(findProblemFields({}, ['items'])).toEqual(['late']);
  expect(findProblemFields({}, ['from'])).toEqual([]);
});

test('a rule can query which fields are malformed', () => {
  const malformedRule: FieldRule<Request> = {
    reads: [],
    check: (_, isMalformed) =>
      isMalformed('items[0].name') && !isMalformed('items[1]') ? [newProblem('malformed')] : [],
  };
  expect(findProblemFields({}, ['items[0].name'], [malformedRule])).toEqual(['malformed']);
});

test('if a rule throws an error because the caller has no permission, malformed fields are not reported', () => {
  const permissionRule = newRule([], () => {
    throw new DomainError('credentials.forbidden');
  });
  expect(() => findProblemFields({ from: 2, to: 1 }, ['items'], [orderRule, permissionRule])).toThrow(DomainError);
});
