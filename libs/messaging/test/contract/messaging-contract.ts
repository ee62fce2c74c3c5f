import type { MessagingHarness } from '../harness/harness.js';
import { commandContract } from './command-contract.js';
import { consumerContract } from './consumer-contract.js';
import { logContract } from './log-contract.js';
import { relayContract } from './relay-contract.js';
import { validationContract } from './validation-contract.js';

/**
 * The guarantees of messaging over every broker. Each test starts with services and databases of its own.
 */
export function messagingContract(name: string, makeHarness: () => MessagingHarness): void {
  describe(`messaging, ${name}`, () => {
    let current: MessagingHarness;
    const harness = (): MessagingHarness => current;

    beforeEach(() => {
      current = makeHarness();
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
