// Runs the specs in the order of the command line: the nearest to the mutant first.
import TestSequencer from '@jest/test-sequencer';

export default class NearestFirst extends TestSequencer {
  sort(tests) {
    return tests.toSorted((a, b) => process.argv.indexOf(a.path) - process.argv.indexOf(b.path));
  }
}
