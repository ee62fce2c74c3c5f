import { PAGE_TEXTS } from '@svc/service';
import { en } from '../languages/en.js';

test('while the gateway is unavailable, the reverse proxy shows the texts of the page', () => {
  const { notFound, unavailable } = en;
  expect(PAGE_TEXTS).toEqual({
    notFound: [notFound.heading, notFound.note],
    unavailable: [unavailable.heading, unavailable.note, unavailable.again],
  });
});
