import { PAGE_WORDS } from '@svc/service';
import { en } from '../languages/en.js';

test('the front uses the texts of the page while the gateway is unavailable', () => {
  const { notFound, unavailable } = en;
  expect(PAGE_WORDS).toEqual({
    notFound: [notFound.heading, notFound.note],
    unavailable: [unavailable.heading, unavailable.note, unavailable.again],
  });
});
