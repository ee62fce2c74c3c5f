#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import { webhookCommand } from '../dist/webhook-command.js';

const { exitCode, lines } = webhookCommand(process.argv.slice(2), await buffer(process.stdin));
for (const line of lines) console.log(line);
process.exitCode = exitCode;
