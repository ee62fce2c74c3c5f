// Rules between the folders of an app, of a library, of bench/ and of ./svc; rules between files are in .dependency-cruiser.cjs.

const { options } = require('./.dependency-cruiser.cjs');

/** Tests may import anything; files directly in `src` or `browser` connect the folders, or are shared by all of them. */
const IN_NO_FOLDER = [
  '(^|/)dist/',
  '\\.(spec|int-spec)\\.tsx?$',
  '^(apps|libs)/[^/]+/test/',
  '^(apps|libs)/[^/]+/(src|browser)/[^/]+\\.tsx?$',
  '^bench/[^/]+\\.ts$',
];

/** A merchant, its sites and their secrets change together, under the lock of the merchant. */
const ONE_AGGREGATE = '^apps/identity/src/(merchants|sites|webhook-secrets)$';

/** Types of events and of HTTP bodies share parts in both directions (`Voucher`, `HostedPaymentSnapshot`). */
const ONE_VOCABULARY = '^libs/contracts/src/(events|http)(/|$)';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular-folders',
      comment: 'Merge two folders that import each other, or move their shared code into a folder below them.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(apps|bench|libs|tools)/', pathNot: [ONE_AGGREGATE, ONE_VOCABULARY] },
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: IN_NO_FOLDER.join('|') } },
};
