import { canOperate, isOperatorRole, OPERATOR_ROLES } from './operators.js';

test('a viewer only views, an operator also changes, and without a role there is no right', () => {
  const rights = ([...OPERATOR_ROLES, undefined] as const).map((role) => [
    role,
    canOperate(role, 'view'),
    canOperate(role, 'change'),
  ]);
  expect(rights).toEqual([
    ['viewer', true, false],
    ['operator', true, true],
    [undefined, false, false],
  ]);
});

test('isOperatorRole accepts exactly the roles', () => {
  expect([...OPERATOR_ROLES, 'owner', '', undefined, 1].filter(isOperatorRole)).toEqual([...OPERATOR_ROLES]);
});
