import type { AdminCommand } from './command.ts';
import { credentialCommands } from './credential-commands.ts';
import { deadLetterCommands } from './dead-letter-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { merchantAccountCommands, merchantCommands, siteCommands } from './merchant-commands.ts';
import { organisationCommands } from './organisation-commands.ts';
import { readModelCommands } from './read-model-commands.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { refundCommands } from './refund-commands.ts';
import { settlementCommands } from './settlement-commands.ts';
import { webhookCommands } from './webhook-commands.ts';

/** Every subcommand of `./svc admin`, in the order of its help. */
export const ADMIN_COMMANDS: readonly AdminCommand[] = [
  ...organisationCommands,
  ...merchantCommands,
  ...siteCommands,
  ...merchantAccountCommands,
  ...credentialCommands,
  ...refundCommands,
  ...settlementCommands,
  reconcileCommand,
  ...ledgerCommands,
  ...webhookCommands,
  ...deadLetterCommands,
  ...readModelCommands,
];
