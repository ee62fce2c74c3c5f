import { PAGE_TEXTS } from '@svc/service';
import { en } from '../languages/en.js';

test('the error pages of the reverse proxy have the same texts as the error pages of the gateway', () => {
  const { notFound, unavailable } = en;
  expect(PAGE_TEXTS).toEqual({
    notFound: [notFound.heading, notFound.note],
    unavailable: [unavailable.heading, unavailable.note, unavailable.again],
  });
});
