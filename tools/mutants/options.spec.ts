import { parseOptions } from './options.ts';

it.each([
  [['apps/a'], { paths: ['apps/a'], changedSince: undefined, isList: false, only: undefined }],
  [['--changed'], { paths: ['apps', 'libs'], changedSince: 'main' }],
  [['--changed', 'v1', 'libs/b'], { paths: ['libs/b'], changedSince: 'v1' }],
  [['--changed', 'libs/b', '--list'], { paths: ['libs/b'], changedSince: 'main', isList: true }],
  [['apps/a', '--only', '3,17'], { paths: ['apps/a'], only: [3, 17] }],
])('understands %j', (args, options) => {
  expect(parseOptions(args)).toMatchObject(options);
});

it.each([[[]], [['--list']], [['apps/a', '--only']], [['apps/a', '--only', '0']], [['apps/a', '--fast']]])(
  'refuses %j',
  (args) => {
    expect(() => parseOptions(args)).toThrow();
  },
);
