/**
 * The order of the test files: the longest system tests first, so that no worker begins a long test at the end.
 * Jest's own order needs the durations of earlier runs, which a fresh clone does not have.
 */
import TestSequencer from '@jest/test-sequencer';

/** Files of this folder. While some wait for a platform to recover from a fault, others use the processors. */
const FIRST = [
  'faults',
  'lost-connections',
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
