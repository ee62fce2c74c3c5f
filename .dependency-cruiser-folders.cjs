// Rules between the folders of an app, of bench/ and of ./svc; rules between files are in .dependency-cruiser.cjs.

const { options } = require('./.dependency-cruiser.cjs');

/** Tests may import anything; files directly in `src` connect the folders, or are shared by all of them. */
const IN_NO_FOLDER = [
  '(^|/)dist/',
  '\\.(spec|int-spec)\\.tsx?$',
  '^apps/[^/]+/test/',
  '^apps/[^/]+/src/[^/]+\\.tsx?$',
  '^bench/[^/]+\\.ts$',
];

/** A merchant, its sites and their secrets change together, under the lock of the merchant. */
const ONE_AGGREGATE = '^apps/identity/src/(merchants|sites|webhook-secrets)$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular-folders',
      comment: 'Merge two folders that import each other, or move their shared code into a folder below them.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(apps|bench|tools)/', pathNot: ONE_AGGREGATE },
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: IN_NO_FOLDER.join('|') } },
};
