import { EmbeddedHarness } from './embedded-harness.js';
import { messagingContract } from './messaging-contract.js';

messagingContract('embedded', () => new EmbeddedHarness());
