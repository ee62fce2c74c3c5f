import { ensureInstalled } from './apt.ts';
import { findOnPath } from './find-on-path.ts';

/** Returns the path of PHP with its curl extension, for the tests of the PHP client. */
export function ensurePhp(root: string, logFile: string): Promise<string> {
  return ensureInstalled({
    name: 'PHP',
    find: () => findOnPath(['php']),
    packages: [['php-cli', 'php-curl']],
    root,
    logFile,
    hint: 'install php-cli and php-curl',
  });
}
