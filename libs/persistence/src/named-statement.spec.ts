import { namedStatement } from './named-statement.js';

test('each name becomes one placeholder, even if it occurs several times', () => {
  const { text, valuesOf } = namedStatement(
    `UPDATE things SET state = $state, changed_at = $now WHERE id = $id AND $now > changed_at AND state <> $state`,
  );
  expect(text).toBe(`UPDATE things SET state = $1, changed_at = $2 WHERE id = $3 AND $2 > changed_at AND state <> $1`);
  expect(valuesOf({ id: 7, now: 'noon', state: 'open' })).toEqual(['open', 'noon', 7]);
});

test('a name that starts with another name gets a separate placeholder', () => {
  const { text, valuesOf } = namedStatement('SELECT $id::text, $id_2, $ids[1], $id');
  expect(text).toBe('SELECT $1::text, $2, $3[1], $1');
  expect(valuesOf({ id: 1, id_2: 2, ids: [3] })).toEqual([1, 2, [3]]);
});

test('the text of a statement does not contain the values', () => {
  const statement = namedStatement('SELECT $name');
  for (const name of ['a secret', '$name', "'; DROP TABLE things --"]) {
    expect(statement.valuesOf({ name })).toEqual([name]);
    expect(statement.text).toBe('SELECT $1');
  }
});

test('null is accepted as a value, and undefined is rejected as a missing value', () => {
  const { valuesOf } = namedStatement('SELECT $one, $other');
  expect(valuesOf({ one: null, other: false })).toEqual([null, false]);
  expect(() => valuesOf({ one: 1 })).toThrow('Parameter $other of the statement is missing.');
  expect(() => valuesOf({ one: 1, other: undefined })).toThrow('Parameter $other of the statement is missing.');
});

test('a value for a name that does not occur in the statement is rejected', () => {
  expect(() => namedStatement('SELECT $one').valuesOf({ one: 1, other: 2 })).toThrow(
    'The statement has no parameter $other.',
  );
});

test('a statement with a numbered parameter is rejected', () => {
  expect(() => namedStatement('SELECT $one, $2')).toThrow('Parameter $2 has a number instead of a name.');
});
