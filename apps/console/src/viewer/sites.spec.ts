import { chooseSite, chooseSiteOrAll, listSites } from './sites.js';

const merchant = {
  ...{ merchantId: 1001, name: 'Karoo Books', timeZones: [] },
  sites: [
    { siteId: 5001, name: 'Shop 1' },
    { siteId: 5002, name: 'Shop 2' },
    { siteId: 5003, name: 'Shop 3' },
  ],
};
const viewer = (sites: 'all' | number[]) => ({ merchant, scope: { merchantId: 1001, mode: 'test' as const, sites } });

test.each([
  ['all' as const, undefined, undefined],
  ['all' as const, '', undefined],
  ['all' as const, '5002', 5002],
  [[5002, 5003], undefined, 5002],
  [[5002, 5003], '5003', 5003],
])('with the sites %j the choice %j is the site %j', (sites, text, siteId) => {
  expect(chooseSiteOrAll(viewer(sites), text)).toBe(siteId);
});

test.each([
  ['all' as const, '7001'],
  ['all' as const, 'x'],
  ['all' as const, ['5001', '5002']],
  [[5002], '5001'],
  // A site of another merchant, at which the person has a role too.
  [[5002, 7001], '7001'],
])('with the sites %j the choice %j is not found', (sites, text) => {
  expect(() => chooseSiteOrAll(viewer(sites), text)).toThrow(expect.objectContaining({ code: 'resource.not-found' }));
});

test('a person sees the sites of the merchant at which the person has a role', () => {
  expect(listSites(viewer('all')).map(({ siteId }) => siteId)).toEqual([5001, 5002, 5003]);
  expect(listSites(viewer([5003, 7001])).map(({ siteId }) => siteId)).toEqual([5003]);
});

test('a page of one site begins with the first site of the person', () => {
  expect(chooseSite(viewer('all'), undefined)).toBe(5001);
  expect(chooseSite(viewer([7001]), '')).toBeUndefined();
  expect(() => chooseSite(viewer([5002]), '5001')).toThrow(expect.objectContaining({ code: 'resource.not-found' }));
});
