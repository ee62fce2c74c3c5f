import { PAGE_WORDS } from '@svc/service';
import { en } from '../languages/en.js';

test('the error pages of the reverse proxy have the same texts as those of the gateway', () => {
  const { notFound, unavailable } = en;
  expect(PAGE_WORDS).toEqual({
    notFound: [notFound.heading, notFound.note],
    unavailable: [unavailable.heading, unavailable.note, unavailable.again],
  });
});
