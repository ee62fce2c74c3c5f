/**
 * `./svc npm run drill -- broker-cluster` runs the drills whose file name contains the first argument. Further arguments
 * choose tests by name: `./svc npm run drill -- alerts SvcRelayLate SvcNoHeartbeat`. Options are those of Jest.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createDrillArguments } from './drill-arguments.ts';

const ROOT = join(import.meta.dirname, '../..');
const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
const { status } = spawnSync(process.execPath, [jest, ...createDrillArguments(process.argv.slice(2))], {
  cwd: ROOT,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
