import type { ScriptMessages } from './script-messages.js';

/** Put here by build.ts: there is a script for each language. */
declare const SCRIPT_MESSAGES: ScriptMessages;

export const messages = SCRIPT_MESSAGES;
