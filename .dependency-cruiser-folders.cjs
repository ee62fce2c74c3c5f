// What holds between the folders of an app, of a library, of bench/ and of ./svc; what holds file by file is in .dependency-cruiser.cjs.

const { options } = require('./.dependency-cruiser.cjs');

/** Tests may look anywhere; what stands directly in `src` or `browser` joins the folders, or is what each of them may know. */
const IN_NO_FOLDER = [
  '(^|/)dist/',
  '\\.(spec|int-spec)\\.tsx?$',
  '^(apps|libs)/[^/]+/test/',
  '^(apps|libs)/[^/]+/(src|browser)/[^/]+\\.tsx?$',
  '^bench/[^/]+\\.ts$',
];

/** A merchant, its sites and their secrets are changed together, under the lock of the merchant. */
const ONE_AGGREGATE = '^apps/identity/src/(merchants|sites|webhook-secrets)$';

/** Types of events and of HTTP bodies share parts in both directions (`Voucher`, `PaymentSnapshot`). */
const ONE_VOCABULARY = '^libs/contracts/src/(events|http)(/|$)';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circular-folders',
      comment: 'Two folders that need each other are one folder, or what both need has a place below them.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(apps|bench|libs|tools)/', pathNot: [ONE_AGGREGATE, ONE_VOCABULARY] },
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: IN_NO_FOLDER.join('|') } },
};
