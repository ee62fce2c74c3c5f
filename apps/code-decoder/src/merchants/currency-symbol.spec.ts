import { currencySymbol } from './currency-symbol.js';

test.each([
  ['ZAR', 'R'],
  ['EUR', '€'],
  ['USD', '$'],
  ['GBP', '£'],
  ['JPY', '¥'],
  ['XXX', '¤'],
  ['QQQ', 'QQQ'],
])('the currency %s has the symbol %s', (code, symbol) => expect(currencySymbol(code)).toBe(symbol));
