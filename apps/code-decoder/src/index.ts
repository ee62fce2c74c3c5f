import { Credentials1763500000010, OperatorKeys1763500000040, PartnerCredentials1763500000020 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { CodeDecoderModule } from './app.module.js';
import { CodeDecoderConfig } from './config.js';
import { Schema1763500006000 } from './migrations/1763500006000-schema.js';

/** Decodes codes: of tills' invoices, of hosted sessions, and of third-party providers. */
export const codeDecoderService: ServiceDefinition<CodeDecoderConfig> = {
  name: 'code-decoder',
  config: CodeDecoderConfig,
  module: CodeDecoderModule,
  // Events may be gathered for this time: invoices are created by requests, and no payer scans the code of a new session
  // so soon.
  maxBatchWaitMs: 100,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    Credentials1763500000010,
    PartnerCredentials1763500000020,
    OperatorKeys1763500000040,
    Schema1763500006000,
  ],
  // A code has up to 2 KiB (D1), and percent-encoding triples the length of each character.
  maxParamLength: 6_144,
};
