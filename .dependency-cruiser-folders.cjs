// Rules between the folders of an app, of a library, of bench/ and of ./svc; rules between files are in .dependency-cruiser.cjs.

const { options } = require('./.dependency-cruiser.cjs');

/**
 * These files are not checked. Tests may import anything. Files directly in `src` or `browser` connect the folders, or
 * all folders use them.
 */
const UNCHECKED_FILES = [
  '(^|/)dist/',
  '\\.(spec|int-spec)\\.tsx?$',
  '^(apps|libs)/[^/]+/test/',
  '^(apps|libs)/[^/]+/(src|browser)/[^/]+\\.tsx?$',
  '^bench/[^/]+\\.ts$',
];

/** These folders may import each other: a merchant, its sites and their secrets change together, under one lock. */
const ONE_AGGREGATE = '^apps/identity/src/(merchants|sites|webhook-secrets)$';

/** Types of events and of HTTP bodies use each other (`Voucher`, `HostedPaymentSnapshot`). */
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
  options: { ...options, exclude: { path: UNCHECKED_FILES.join('|') } },
};
