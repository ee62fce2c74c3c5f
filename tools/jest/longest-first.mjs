/**
 * The order of the test files: the longest first, so that no worker begins a long test at the end. Jest's own order
 * needs the durations of earlier runs, which a fresh clone does not have.
 */
import TestSequencer from '@jest/test-sequencer';

/** Test files that take longest. They mostly wait: for a platform to recover from a fault, for a timeout, for a server to start. */
export const FIRST = [
  ...[
    'faults',
    'refund-deaths',
    'distributed',
    'lan',
    'reconciliation',
    'lost-connections',
    'page-states',
    'kill',
    'without-neighbours',
    'sdk-package',
    'main-job',
    'card-data',
  ].map((name) => `/e2e/${name}.e2e-spec.ts`),
  ...[
    'apps/all-in-one/src/reconciliation',
    'deploy/rabbitmq-permissions',
    'libs/messaging/test/rabbitmq/rabbitmq-faults',
    'libs/messaging/test/rabbitmq/rabbitmq',
    'libs/messaging/test/contract/embedded',
  ].map((path) => `/${path}.int-spec.ts`),
];

export default class LongestFirst extends TestSequencer {
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
