#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import { forwardCommand, isForwardCommand } from '../dist/command-line/forward-command.js';
import { webhookCommand } from '../dist/command-line/webhook-command.js';

const args = process.argv.slice(2);
if (isForwardCommand(args)) {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
  process.exitCode = await forwardCommand(args, (line) => console.log(line), ended.signal);
  // A feed that is being read holds the process for a moment; nothing is lost with it.
  process.exit();
}
const { exitCode, lines } = webhookCommand(args, await buffer(process.stdin));
for (const line of lines) console.log(line);
process.exitCode = exitCode;
