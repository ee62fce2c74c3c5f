import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../base/svc-error.ts';

/**
 * What Node.js is given to run a program of an app, as tools/bundle has made it; the working directory is the root. Telemetry
 * comes first, so that what is loaded after it can be traced: within a bundle it would be loaded when all else is.
 */
export function programArguments(root: string, app: string, program: 'main' | 'migrate' = 'main'): string[] {
  const script = join(root, 'dist', app, `${program}.js`);
  if (!existsSync(script)) throw new SvcError(`${script} is missing`, { hint: 'the build should have made it' });
  return ['--enable-source-maps', '--import=./dist/telemetry/main.js', script];
}
