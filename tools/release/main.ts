/** `npm run release 1.0.0-rc.1`, on a clean tree. The last lines of the output say how to publish the release. */
import { join } from 'node:path';
import { SvcError } from '../svc/base/svc-error.ts';
import { makeRelease } from './release.ts';

const [version = ''] = process.argv.slice(2);
const root = join(import.meta.dirname, '../..');
try {
  const date = new Date().toISOString().slice(0, 10);
  const folder = await makeRelease({ root, version, date, verify: ['.ci/run'] });
  console.log(`\nRelease ${version} is in ${folder}; release.json lists its files, commands and results.`);
  console.log('Nothing has been published. To publish it, push the commit and its tag, and build and push the images:');
  console.log(`  git push origin HEAD v${version}`);
  console.log(`  docker build -f docker/Dockerfile --build-arg APP=<app> -t <registry>/svc/<app>:${version} .`);
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  console.error(`release: ${error.line}`);
  process.exitCode = error.exitCode;
}
