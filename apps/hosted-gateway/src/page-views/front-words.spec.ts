import { PAGE_WORDS } from '@svc/service';
import { en } from '../languages/en.js';

test('the front speaks as the page does, while nobody can make the page', () => {
  const { notFound, unavailable } = en;
  expect(PAGE_WORDS).toEqual({
    notFound: [notFound.heading, notFound.note],
    unavailable: [unavailable.heading, unavailable.note, unavailable.again],
  });
});
