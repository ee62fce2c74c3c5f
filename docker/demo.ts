/**
 * `node docker/demo.ts`: creates the merchants and the partner of the demo on a platform that runs in compose. Writes
 * their keys to docker/demo/demo.json, which the demo shop reads, and docker/demo/partner.json.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { OWNER_ONLY, readJson, writeAtomically } from '../tools/svc/base/files.ts';
import { connectForDemo, connectToMainApi, type Demo, seed } from '../tools/svc/demo/seed.ts';

const adminUrl = 'http://127.0.0.1:7303';
const apiUrl = 'http://127.0.0.1:7300';
const file = join(import.meta.dirname, 'demo', 'demo.json');
// Only the user who runs this program can read the partner's credentials.
const partnerFile = join(import.meta.dirname, 'demo', 'partner.json');
const { ADMIN_KEY: adminKey } = parseEnv(readFileSync(join(import.meta.dirname, '.env'), 'utf8'));
if (adminKey === undefined) throw new Error('docker/.env has no ADMIN_KEY: run node docker/secrets.ts');

const stored: Partial<Demo> = { ...(readJson(file) as object), ...(readJson(partnerFile) as object) };
const { merchants, ...partner } = await seed(connectForDemo(adminUrl, adminKey), connectToMainApi(apiUrl), stored);
// All users can read this file, because the shop's container runs as another user. The file does not contain the
// administrator's key.
writeAtomically(file, `${JSON.stringify({ merchants }, null, 2)}\n`, 0o644);
writeAtomically(partnerFile, `${JSON.stringify(partner, null, 2)}\n`, OWNER_ONLY);
console.log(`${merchants.length} merchants, keys in ${file}; a partner with its customers, in ${partnerFile}`);
