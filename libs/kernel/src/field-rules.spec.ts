import { DomainError, type FieldProblem } from './domain-error.js';
import { type FieldRule, ruleProblems, rulesFor } from './field-rules.js';

interface Request {
  readonly from?: number;
  readonly to?: number;
  readonly items?: readonly object[];
}
const problem = (field: string): FieldProblem => ({ field, message: `${field} is wrong` });
const rule = rulesFor<Request>();
const order = rule(['from', 'to'], ({ from = 0, to = 0 }) => (from > to ? problem('to') : undefined));
const items = rule(['items'], ({ items = [] }) => (items.length > 1 ? [problem('items')] : []));
const late: FieldRule<Request> = { reads: ['from'], onlyWithOtherErrors: true, check: () => [problem('late')] };

const fieldsOf = (request: Request, malformed: string[] = [], rules = [late, order, items]): string[] =>
  ruleProblems(request, rules, malformed.map(problem)).map(({ field }) => field);

test('every rule is checked, in the order of the rules', () => {
  expect(fieldsOf({ from: 2, to: 1, items: [{}, {}] }, [], [order, items])).toEqual(['to', 'items']);
  expect(fieldsOf({ from: 2, to: 1, items: [{}, {}] }, [], [items, order])).toEqual(['items', 'to']);
  expect(fieldsOf({ from: 1, to: 1 })).toEqual([]);
});

test.each([['from'], ['to'], ['items'], ['items.length'], ['items[0].name']])(
  'a rule that reads the malformed %s is skipped, and the others are not',
  (path) => {
    const found = fieldsOf({ from: 2, to: 1, items: [{}, {}] }, [path], [order, items]);
    expect(found).toEqual(path.startsWith('items') ? ['to'] : ['items']);
  },
);

test('a rule still reads a field whose name only starts with the name of a malformed field', () => {
  expect(fieldsOf({ from: 2, to: 1 }, ['fromHere', 'total'], [order])).toEqual(['to']);
});

test('a rule with onlyWithOtherErrors reports its error only beside other errors', () => {
  expect(fieldsOf({ to: 1 })).toEqual([]);
  expect(fieldsOf({ from: 2, to: 1 })).toEqual(['to', 'late']);
  expect(fieldsOf({}, ['items'])).toEqual(['late']);
  expect(fieldsOf({}, ['from'])).toEqual([]);
});

test('a rule can check which fields are malformed', () => {
  const asks: FieldRule<Request> = {
    reads: [],
    check: (_, isMalformed) => (isMalformed('items[0].name') && !isMalformed('items[1]') ? [problem('asked')] : []),
  };
  expect(fieldsOf({}, ['items[0].name'], [asks])).toEqual(['asked']);
});

test('a caller without permission is refused before a malformed field is named', () => {
  const forbids = rule([], () => {
    throw new DomainError('credentials.forbidden');
  });
  expect(() => fieldsOf({ from: 2, to: 1 }, ['items'], [order, forbids])).toThrow(DomainError);
});
