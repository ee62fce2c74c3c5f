import { currencySymbol } from './currency-symbol.js';

test.each([
  ['ZAR', 'R'],
  ['EUR', '€'],
  ['USD', '$'],
  ['GBP', '£'],
  ['JPY', '¥'],
  ['XXX', '¤'],
  ['QQQ', 'QQQ'],
])('%s is written %s', (code, symbol) => expect(currencySymbol(code)).toBe(symbol));
