import { maskCustomer } from './customer-mask.js';

test('the names of the customer are replaced, whatever fields the customer has, and all other fields stay in order', () => {
  const body =
    '{"type":"payment","customer":{"firstName":"Thandi","lastName":"Nkosi","email":"t@x.example"},"siteId":5001}';
  expect(maskCustomer(body)).toBe(
    '{"type":"payment","customer":{"firstName":"•••","lastName":"•••","email":"•••"},"siteId":5001}',
  );
});

test.each(['{"signature":"a","amount":1}', '{"type":"payment","customer":{"firstName":"","lastName":""}}'])(
  'the body %s has no names',
  (body) => {
    expect(maskCustomer(body)).toBeUndefined();
  },
);
