/**
 * The order of the test files: first the system tests that take longest, so that no worker is left with one of them at
 * the end. Jest knows the times of earlier runs only, and a fresh clone has none.
 */
import TestSequencer from '@jest/test-sequencer';

/** Files of this folder; while some wait for a platform that a fault has met, others use the processors. */
const FIRST = [
  'faults-of-processes',
  'lost-connections',
  'faults-of-servers',
  'page-states',
  'without-neighbours',
  'distributed',
  'lan',
  'kill',
  'refund-deaths',
  'main-job',
  'reconciliation',
].map((name) => `/e2e/${name}.e2e-spec.ts`);

export default class SystemTestsFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const placeOf = ({ path }) => {
      const place = FIRST.findIndex((ending) => path.endsWith(ending));
      if (place >= 0) return place;
      return path.endsWith('.e2e-spec.ts') ? FIRST.length : FIRST.length + 1;
    };
    return [...sorted].sort((one, other) => placeOf(one) - placeOf(other));
  }
}
