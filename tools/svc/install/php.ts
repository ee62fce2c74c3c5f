import { canInstallPackages, installPackages } from './apt.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';
import { SvcError } from '../base/svc-error.ts';

/** PHP with curl, for the tests of the client that shops in PHP copy: the one on the PATH, or installed now. Returns its path. */
export async function ensurePhp(root: string, logFile: string): Promise<string> {
  const find = () => findOnPath(['php'], process.env['PATH'] ?? '', isExecutable);
  const hint = 'install php-cli and php-curl';
  if (find() === undefined) {
    if (!canInstallPackages()) throw new SvcError('the tests of the PHP client need PHP', { hint });
    await installPackages(['php-cli', 'php-curl'], { root, logFile, hint, isThere: () => find() !== undefined });
  }
  const found = find();
  if (found === undefined) throw new SvcError('apt-get installed PHP, but it is not on the PATH', { hint });
  return found;
}
