#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import { forwardCommand, isForwardCommand } from '../dist/command-line/forward-command.js';
import { HELP, isHelp } from '../dist/command-line/help.js';
import { webhookCommand } from '../dist/command-line/webhook-command.js';

const args = process.argv.slice(2);
if (isHelp(args)) {
  console.log(HELP.trimEnd());
  process.exit();
}
if (isForwardCommand(args)) {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => abort.abort());
  process.exitCode = await forwardCommand(args, (line) => console.log(line), abort.signal);
  // Exit without waiting for open connections.
  process.exit();
}
const { exitCode, lines } = webhookCommand(args, await buffer(process.stdin));
for (const line of lines) console.log(line);
process.exitCode = exitCode;
