import { createDrillArguments } from './drill-arguments.ts';

const CONFIG = ['--config', 'tools/jest/drills.config.mjs', '--runInBand'];

test.each([
  [['broker-cluster'], ['broker-cluster']],
  [
    ['alerts', 'SvcRelayLate', '--verbose', 'SvcNoMetrics'],
    ['alerts', '--testNamePattern', '\\b(SvcRelayLate|SvcNoMetrics)\\b', '--verbose'],
  ],
  [[], []],
])('%p', (args, expected) => {
  expect(createDrillArguments(args)).toEqual([...CONFIG, ...expected]);
});
