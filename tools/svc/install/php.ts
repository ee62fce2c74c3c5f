import { ensureInstalled } from './apt.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';

/** PHP with curl, for the tests of the client that shops in PHP copy: the one on the PATH, or installed now. Returns its path. */
export function ensurePhp(root: string, logFile: string): Promise<string> {
  return ensureInstalled({
    name: 'PHP',
    find: () => findOnPath(['php'], process.env['PATH'] ?? '', isExecutable),
    packages: [['php-cli', 'php-curl']],
    root,
    logFile,
    hint: 'install php-cli and php-curl',
  });
}
