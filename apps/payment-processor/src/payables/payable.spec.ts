import { PAYABLE_TRANSITIONS } from './payable.js';

test('only an open payable is reserved, closed or refused; only a reserved one is paid or freed', () => {
  expect(PAYABLE_TRANSITIONS).toEqual({
    open: ['reserved', 'closed', 'refused'],
    reserved: ['paid', 'open', 'refused'],
    paid: [],
    refused: [],
    closed: [],
  });
});
