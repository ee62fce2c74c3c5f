import { type DisputeChoice, formatDisputeChoice, readDisputeChoice } from './dispute-filters.js';

const REFERENCE = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
const OPEN: DisputeChoice = { state: 'open', siteId: undefined, after: undefined };

test.each<[string, DisputeChoice]>([
  ['', OPEN],
  ['?state=closed&site=5001', { state: 'closed', siteId: 5001, after: undefined }],
  [
    `?after=1772359200000_${REFERENCE}`,
    { ...OPEN, after: { time: new Date(1_772_359_200_000), disputeReference: REFERENCE } },
  ],
  [`?after=_${REFERENCE}`, { ...OPEN, after: { time: undefined, disputeReference: REFERENCE } }],
])('the query %j is a choice and its address', (query, choice) => {
  expect(readDisputeChoice(Object.fromEntries(new URLSearchParams(query)))).toEqual(choice);
  expect(formatDisputeChoice(choice)).toBe(query);
});

test.each([
  { state: 'lost' },
  { state: ['closed', 'closed'] },
  { site: '05001' },
  { site: 'x' },
  { after: '1' },
  { after: `123456789012345_${REFERENCE}` },
  { after: `-1_${REFERENCE}` },
  { after: '1_019ca8d7-25ab-777e-8b20-51e25d3ed4e' },
  { after: '1_------------------------------------' },
  { after: [`1_${REFERENCE}`] },
])('the invalid query %j counts as none', (query) => {
  expect(readDisputeChoice(query)).toEqual(OPEN);
});
