import { EmbeddedBroker } from '../../src/index.js';
import { type Brokers, ProcessesHarness } from '../harness/processes-harness.js';
import { messagingContract } from './messaging-contract.js';

/** All services run in one process. The tests simulate a crash of a service by closing its database connections. */
function embedded(): Brokers {
  const broker = new EmbeddedBroker();
  return {
    connect: () => Promise.resolve({ broker, cut: () => undefined, close: () => Promise.resolve() }),
    close: () => Promise.resolve(),
  };
}

messagingContract('embedded', () => new ProcessesHarness(embedded()));
