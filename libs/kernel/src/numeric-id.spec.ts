import { isNumericId } from './numeric-id.js';

test.each(['1', '1001', '999999999999999'])('%s is a numeric id', (text) => expect(isNumericId(text)).toBe(true));

test.each([undefined, null, 1001, '', '0', '01', '-1', '1.5', '1e3', '1 ', '1\n', '１', '1000000000000000'])(
  '%j is not a numeric id',
  (value) => expect(isNumericId(value)).toBe(false),
);
