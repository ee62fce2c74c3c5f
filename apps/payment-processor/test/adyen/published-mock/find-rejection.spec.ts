import { findRejection, PrismMock } from './prism-mock.js';

const ACCEPTED = { status: 200, violations: null, text: '{}' };

test.each([200, 201, 204])('a response %p without violations is an acceptance', (status) =>
  expect(findRejection({ ...ACCEPTED, status })).toBeUndefined(),
);

test('each other response is a rejection, with its reason', () => {
  expect(findRejection({ status: 422, violations: '[{"message":"no amount"}]', text: 'an example' })).toBe(
    '422: [{"message":"no amount"}]',
  );
  for (const status of [304, 401, 404, 422, 500])
    expect(findRejection({ ...ACCEPTED, status, text: 'a reason' })).toBe(`${status}: a reason`);
  expect(findRejection({ ...ACCEPTED, violations: '[]' })).toBe('200: []');
});

test('without the program there is no mock', async () => {
  await expect(PrismMock.start('/nonexistent/prism')).rejects.toThrow(/ENOENT/);
  await expect(PrismMock.start('false')).rejects.toThrow(/has ended/);
});
