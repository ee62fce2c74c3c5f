import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@svc/kernel';
import type { ServiceLog } from '@svc/service';
import { composeMail, type MailTransport } from './mail-transports.js';

/** Older files are deleted. */
const MAX_FILES = 200;

/**
 * Writes each mail into a file that mail programs can open, for development without an SMTP server. The log contains the
 * file's path and the first link of the mail.
 */
export function createFolderTransport(folder: string, clock: Clock, log: ServiceLog): MailTransport {
  return async (message) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${clock.nowISO().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`;
    const file = join(folder, name);
    await writeFile(file, await composeMail(message), { mode: 0o600 });
    const link = /https?:\/\/[^\s<>"]+/.exec(message.text)?.[0];
    log.info({ file, link }, 'mail written into a file, because no SMTP server is configured');
    const files = (await readdir(folder)).filter((each) => each.endsWith('.eml')).sort();
    for (const old of files.slice(0, -MAX_FILES)) await rm(join(folder, old), { force: true });
  };
}
