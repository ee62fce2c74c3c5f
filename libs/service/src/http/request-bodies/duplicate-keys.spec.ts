import fc from 'fast-check';
import { findDuplicateKey } from './duplicate-keys.js';

it.each([
  ['{"amount":1,"amount":2}', 'amount'],
  ['{"amount":1,"\\u0061mount":2}', 'amount'],
  ['{"a\\"b":1,"a\\u0022b":2}', 'a"b'],
  ['{ "a" : 1 ,\n\t"a"\r\n : 1 }', 'a'],
  ['{"a":{"b":1},"c":[{"d":1},{"d":1,"e":[],"d":2}]}', 'c[1].d'],
  ['{"a":{"b":{"c":1}},"a":{}}', 'a'],
  ['[[1,{"a":1}],[1,[],{"a":1,"a":1}]]', '[1][2].a'],
  ['{"":1,"":2}', '""'],
  ['{"a":[{"":{"":1,"":2}}]}', 'a[0]."".""'],
  ['{"é":1,"\\u00e9":2}', 'é'],
  ['{"a\\\\":1,"b":"\\\\","a\\\\":2}', 'a\\'],
])('finds the key that %s has twice', (text, path) => {
  expect(() => JSON.parse(text) as unknown).not.toThrow();
  expect(findDuplicateKey(text)).toBe(path);
});

it.each([
  '{"a":1,"A":2,"b":{"a":1},"c":[{"a":1},{"a":1}],"d":{"a":{"a":{"a":1}}}}',
  '{"a":"a","b":["a","a"],"c":"\\"a\\":1,\\"a\\":2"}',
  '{"a":"{\\"a\\":1}","b":"\\\\","c":"\\\\\\""}',
  '{"a":1,"a ":2,"a\\u0000":3}',
  '{}',
  '[]',
  '"a"',
  ' 7 ',
])('finds nothing in %s', (text) => {
  expect(() => JSON.parse(text) as unknown).not.toThrow();
  expect(findDuplicateKey(text)).toBeUndefined();
});

it('finds a duplicate in any JSON text, and only there', () => {
  const key = fc.oneof(
    fc.constantFrom('a', '"', '\\', ':', '{', ',', ' '),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  const value = fc.constantFrom(0, '', 'a":', '\\"', [], {}, [{ a: 1 }, { a: [] }], { '"': { ',': '{' } });
  const members = fc.array(fc.tuple(key, value), { maxLength: 5 });
  fc.assert(
    fc.property(members, fc.constantFrom('', ' ', '\n'), (pairs, space) => {
      const text = `{${pairs.map(([name, member]) => `${space}${JSON.stringify(name)}${space}:${JSON.stringify(member)}`).join(',')}}`;
      const names = (JSON.parse(text), pairs.map(([name]) => name));
      const duplicate = names.find((name, index) => names.indexOf(name) < index);
      expect(findDuplicateKey(text)).toBe(duplicate === '' ? '""' : duplicate);
    }),
  );
});

it('needs linear time', () => {
  const startedAt = performance.now();
  for (const text of [
    `{"a":"${'\\\\'.repeat(1e5)}"}`,
    `{"a":"${'\\"'.repeat(1e5)}"}`,
    '['.repeat(1e5),
    `{"a"${' '.repeat(2e5)}:1}`,
  ])
    findDuplicateKey(text);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
