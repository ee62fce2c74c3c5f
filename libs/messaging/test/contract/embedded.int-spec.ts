import { EmbeddedBroker } from '../../src/index.js';
import { type Brokers, ProcessesHarness } from '../harness/processes-harness.js';
import { messagingContract } from './messaging-contract.js';

/** All services in one process: a crash is simulated by closing their database connections. */
function embedded(): Brokers {
  const broker = new EmbeddedBroker();
  return {
    connect: () => Promise.resolve({ broker, cut: () => undefined, close: () => Promise.resolve() }),
    close: () => Promise.resolve(),
  };
}

messagingContract('embedded', () => new ProcessesHarness(embedded()));
