import { checkFolderSizes } from './folder-sizes.ts';

const files = (folder: string, count: number, ending = '.ts') =>
  Array.from({ length: count }, (_, at) => `${folder}/file-${at}${ending}`);

test('a folder holds at most ten production files', () => {
  expect(checkFolderSizes(files('libs/a/src', 10), {})).toEqual([]);
  expect(checkFolderSizes([...files('libs/a/src', 10), 'libs/a/src/view.tsx'], {})).toEqual([
    'libs/a/src holds 11 files, more than 10: divide it by feature',
  ]);
});

test.each([
  ['specs', files('libs/a/src', 5, '.spec.ts')],
  ['integration specs', files('libs/a/src', 5, '.int-spec.ts')],
  ['system tests', files('libs/a/src', 5, '.timed.e2e-spec.ts')],
  ['the list of exports', ['libs/a/src/index.ts']],
  ['what is in folders below', files('libs/a/src/http', 10)],
  ['other kinds of files', files('libs/a/src', 5, '.css')],
])('%s do not count', (_, more) => {
  expect(checkFolderSizes([...files('libs/a/src', 10), ...more], {})).toEqual([]);
});

test.each(['libs/a/src/migrations', 'tools/a/fixtures/lint'])('the folder %s may hold more files', (folder) => {
  expect(checkFolderSizes(files(folder, 11), {})).toEqual([]);
});

test('an exception allows a folder to hold more files, until it is no longer needed', () => {
  expect(checkFolderSizes(files('tools/a', 11), { 'tools/a': 'a reason' })).toEqual([]);
  expect(checkFolderSizes(files('tools/a', 10), { 'tools/a': 'a reason' })).toEqual([
    'tools/a holds at most 10 files: remove its exception',
  ]);
});
