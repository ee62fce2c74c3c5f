import { Credentials1763500000010, PartnerCredentials1763500000020 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { CodeDecoderModule } from './app.module.js';
import { CodeDecoderConfig } from './config.js';
import { Invoices1763500006000 } from './migrations/1763500006000-invoices.js';
import { SessionCodes1763500006010 } from './migrations/1763500006010-session-codes.js';
import { SessionCodeBounds1763500006020 } from './migrations/1763500006020-session-code-bounds.js';
import { SessionCodeBoundsHold1763500006021 } from './migrations/1763500006021-session-code-bounds-hold.js';
import { RoomForUpdates1763500006030 } from './migrations/1763500006030-room-for-updates.js';
import { InvoiceRequests1763500006040 } from './migrations/1763500006040-invoice-requests.js';

/** Decodes codes: of tills' invoices, of hosted sessions, and of third-party providers. */
export const codeDecoderService: ServiceDefinition<CodeDecoderConfig> = {
  name: 'code-decoder',
  config: CodeDecoderConfig,
  module: CodeDecoderModule,
  // Events are handled in batches with a short delay. This is harmless: invoices are created by requests, not by
  // events.
  maxBatchWaitMs: 20,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    Credentials1763500000010,
    PartnerCredentials1763500000020,
    Invoices1763500006000,
    SessionCodes1763500006010,
    SessionCodeBounds1763500006020,
    SessionCodeBoundsHold1763500006021,
    RoomForUpdates1763500006030,
    InvoiceRequests1763500006040,
  ],
  // A code has up to 2 KiB (D1), and percent-encoding triples the length of each character.
  maxParamLength: 6_144,
};
