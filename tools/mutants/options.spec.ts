import { parseOptions } from './options.ts';

it.each([
  [['apps/a'], { paths: ['apps/a'], changedSince: undefined, isList: false, isExcused: false, only: undefined }],
  [['apps/a', '--excused'], { paths: ['apps/a'], isExcused: true }],
  [['--changed'], { paths: ['apps', 'libs'], changedSince: 'main' }],
  [['--changed', 'v1', 'libs/b'], { paths: ['libs/b'], changedSince: 'v1' }],
  [['--changed', 'libs/b', '--list'], { paths: ['libs/b'], changedSince: 'main', isList: true }],
  [['apps/a', '--only', '3,17'], { paths: ['apps/a'], only: [3, 17] }],
])('parseOptions parses %j', (args, options) => {
  expect(parseOptions(args)).toMatchObject(options);
});

it.each([
  [[], 'usage: '],
  [['--list'], 'usage: '],
  [['apps/a', '--only'], '--only takes numbers of --list'],
  [['apps/a', '--only', '0'], '--only takes numbers of --list'],
  [['apps/a', '--fast'], 'there is no option --fast'],
])('parseOptions rejects %j', (args, reason) => {
  expect(() => parseOptions(args)).toThrow(reason);
});
