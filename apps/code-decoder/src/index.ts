import { Credentials1763500000010, PartnerCredentials1763500000020 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { CodeDecoderModule } from './app.module.js';
import { CodeDecoderConfig } from './config.js';
import { Invoices1763500006000 } from './migrations/1763500006000-invoices.js';
import { SessionCodes1763500006010 } from './migrations/1763500006010-session-codes.js';

/** Codes and what they stand for: invoices of tills, hosted sessions, and what third-party providers say. */
export const codeDecoderService: ServiceDefinition<CodeDecoderConfig> = {
  name: 'code-decoder',
  config: CodeDecoderConfig,
  module: CodeDecoderModule,
  migrations: [
    Credentials1763500000010,
    PartnerCredentials1763500000020,
    Invoices1763500006000,
    SessionCodes1763500006010,
  ],
  // A code has up to 2 KiB (D1), each character up to three when it is percent-encoded.
  paramLengthMax: 6_144,
};
