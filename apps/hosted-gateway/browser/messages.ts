import type { ScriptMessages } from './script-messages.js';

/** Inserted by build.ts, which builds one script for each language. */
declare const SCRIPT_MESSAGES: ScriptMessages;

export const messages = SCRIPT_MESSAGES;
