import { checkFolderSizes } from './folder-sizes.ts';

const createPaths = (folder: string, count: number, ending = '.ts') =>
  Array.from({ length: count }, (_, index) => `${folder}/file-${index}${ending}`);

test('a folder with more than ten production files is reported', () => {
  expect(checkFolderSizes(createPaths('libs/a/src', 10), {})).toEqual([]);
  expect(checkFolderSizes([...createPaths('libs/a/src', 10), 'libs/a/src/view.tsx'], {})).toEqual([
    'libs/a/src contains 11 files, more than 10: divide it by feature',
  ]);
});

test.each([
  ['specs', createPaths('libs/a/src', 5, '.spec.ts')],
  ['integration specs', createPaths('libs/a/src', 5, '.int-spec.ts')],
  ['system tests', createPaths('libs/a/src', 5, '.timed.e2e-spec.ts')],
  ['index.ts files', ['libs/a/src/index.ts']],
  ['files of subfolders', createPaths('libs/a/src/http', 10)],
  ['other kinds of files', createPaths('libs/a/src', 5, '.css')],
])('%s do not count as production files of the folder', (_, otherPaths) => {
  expect(checkFolderSizes([...createPaths('libs/a/src', 10), ...otherPaths], {})).toEqual([]);
});

test.each(['libs/a/src/migrations', 'tools/a/fixtures/lint'])(
  'the folder %s may contain more than ten files',
  (folder) => {
    expect(checkFolderSizes(createPaths(folder, 11), {})).toEqual([]);
  },
);

test('an exception allows a folder to contain more files, and is reported when it is not needed', () => {
  expect(checkFolderSizes(createPaths('tools/a', 11), { 'tools/a': 'a reason' })).toEqual([]);
  expect(checkFolderSizes(createPaths('tools/a', 10), { 'tools/a': 'a reason' })).toEqual([
    'tools/a contains at most 10 files: remove its exception',
  ]);
});
