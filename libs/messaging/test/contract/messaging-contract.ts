import type { MessagingHarness } from '../harness/harness.js';
import { commandContract } from './command-contract.js';
import { consumerContract } from './consumer-contract.js';
import { logContract } from './log-contract.js';
import { relayContract } from './relay-contract.js';
import { validationContract } from './validation-contract.js';

/**
 * The guarantees of messaging, tested for each broker. Each test starts with its own services and databases.
 */
export function messagingContract(name: string, newHarness: () => MessagingHarness): void {
  describe(`messaging, ${name}`, () => {
    let current: MessagingHarness;
    const harness = (): MessagingHarness => current;

    beforeEach(() => {
      current = newHarness();
    });
    afterEach(() => current.close());

    describe('event log', () => {
      logContract(harness);
    });
    describe('relay', () => {
      relayContract(harness);
    });
    describe('consumers', () => {
      consumerContract(harness);
    });
    describe('commands', () => {
      commandContract(harness);
    });
    describe('validation', () => {
      validationContract(harness);
    });
  });
}
