import { fillPath } from './fill-path.js';

const TEMPLATE = '/merchants/:merchantId/payments/:id';

test.each([
  ['27821234567', '/merchants/7/payments/:id'],
  ['019ca8d7-25ab-777e-8b20-51e25d3ed4e3', '/merchants/7/payments/019ca8d7-25ab-777e-8b20-51e25d3ed4e3'],
  ['1H2J3K4M5N6P7Q8R92', '/merchants/7/payments/1H2J3K4M5N6P7Q8R92'],
  ['Thandi Nkosi', '/merchants/7/payments/:id'],
  ['thandi@example.com', '/merchants/7/payments/:id'],
  ['', '/merchants/7/payments/:id'],
])('the id %s gives the path %s', (id, path) => {
  expect(fillPath(TEMPLATE, { merchantId: '7', id })).toBe(path);
});

test('a merchant id that is not a number keeps its name', () => {
  expect(fillPath(TEMPLATE, { merchantId: 'Thandi' })).toBe(TEMPLATE);
});

test('a parameter without a value keeps its name', () => {
  expect(fillPath(TEMPLATE, {})).toBe(TEMPLATE);
});
