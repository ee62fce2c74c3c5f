import type { ScriptMessages } from './script-messages.js';

/** The messages of one language. build.ts inserts them when it builds the script of that language. */
declare const SCRIPT_MESSAGES: ScriptMessages;

export const messages = SCRIPT_MESSAGES;
